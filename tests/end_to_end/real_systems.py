#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves the shared SuiteSparse systems from HDF5 and prints the iterations and the time of each.

usage: real_systems.py MATRICES SOLVE PROBLEM RANKS [--only NAME,...] [mpiexec and its flags ...]

Every system must reach a true relative residual of 1e-8. The report states that residual, computed with
plain CSR. The exit code is 77 (skipped) when the folder of matrices does not exist.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

PILUT = {"pc_hypre_type": "pilut", "pc_hypre_pilut_tol": 1e-6, "pc_hypre_pilut_factorrowsize": 200,
         "ksp_divtol": 1e30}

# matrix, method, preconditioner, PETSc options. BiCGSTAB takes few iterations (memplus: some 200):
# where it takes more, the last bits, and with them compilers and ranks, decide whether it breaks
# down.
SYSTEMS = [
    ("wathen100", "cg", "jacobi", {}),
    ("bcsstk18", "cg", "jacobi", {}),
    ("gyro_m", "cg", "jacobi", {}),
    ("Dubcova1", "cg", "jacobi", {}),
    ("bodyy5", "cg", "icc", {}),
    ("jnlbrng1", "cg", "jacobi", {}),
    ("Trefethen_20000", "cg", "jacobi", {}),
    ("bcsstk16", "cg", "jacobi", {}),
    ("bcsstk38", "cg", "icc", {"pc_trireme_ilu_levels": 2}),
    ("nos3", "cg", "jacobi", {}),
    ("gr_30_30", "cg", "gamg", {}),
    ("1138_bus", "cg", "icc", {}),
    ("plat1919", "cg", "hypre", {}),
    ("wang4", "bicgstab", "ilu", {}),
    ("memplus", "bicgstab", "ilu", {}),
    ("cage10", "bicgstab", "jacobi", {}),
    ("sherman5", "bicgstab", "ilu", {}),
    ("orsreg_1", "bicgstab", "ilu", {}),
    ("orsirr_1", "bicgstab", "ilu", {}),
    ("add20", "bicgstab", "hypre", {}),
    ("utm300", "bicgstab", "ilu", {"pc_trireme_ilu_levels": 3}),
    ("dw1024", "bicgstab", "hypre", PILUT),
    ("cavity10", "bicgstab", "ilu", {"pc_trireme_ilu_levels": 2}),
    ("lns_3937", "direct", "auto", {}),
    ("mhd3200a", "direct", "auto", {}),
    ("west2021", "direct", "auto", {}),
    ("TSOPF_RS_b39_c30", "direct", "auto", {}),
]
# Systems that block-wise factorisations, with one block per rank, do not solve.
ON_MANY_RANKS = {
    "plat1919": ("direct", "auto", {}),
    "memplus": ("bicgstab", "asm", {"pc_asm_overlap": 2}),
    "cavity10": ("direct", "auto", {}),
    "orsreg_1": ("bicgstab", "hypre", {}),
    "orsirr_1": ("bicgstab", "hypre", {}),
    "utm300": ("bicgstab", "hypre", PILUT),
}
TARGET = 1e-8


def solve(folder, solve_binary, launch, system):
    name, method, preconditioner, options = system
    case = folder / f"{name}.yaml"
    petsc = "".join(f"  {key}: {value}\n" for key, value in options.items())
    case.write_text(f"problem: {{file: {name}.h5, rhs: from-ones}}\n"
                    f"solver: {{method: {method}, preconditioner: {preconditioner}, engine: petsc, rtol: 5e-9}}\n"
                    f"report: {{directory: {folder / name}, solution: false}}\n"
                    + (f"petsc:\n{petsc}" if petsc else ""))
    begin = time.monotonic()
    done = subprocess.run([*launch, solve_binary, "--config", case, "--quiet"], text=True,
                          capture_output=True, timeout=600)
    wall = time.monotonic() - begin
    report = folder / name / "report.json"
    if not report.exists():
        return None, wall, done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
    run, = json.loads(report.read_text())["runs"]
    return run, wall, run["reason"]


def main():
    matrices, solve_binary, problem_binary = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    ranks, launch = sys.argv[4], sys.argv[5:]
    wanted = None
    if launch[:1] == ["--only"]:
        wanted, launch = launch[1].split(","), launch[2:]
    if not matrices.is_dir():
        print(f"skipped: no matrices in {matrices}")
        return 77
    print("| matrix | method | preconditioner | ranks | iterations | true residual | solve s |")
    print("|---|---|---|---|---|---|---|")
    unsolved = []
    with tempfile.TemporaryDirectory(prefix="trireme-real-") as temporary:
        folder = pathlib.Path(temporary)
        for system in SYSTEMS:
            if launch and system[0] in ON_MANY_RANKS:
                system = (system[0], *ON_MANY_RANKS[system[0]])
            name, method, preconditioner, options = system
            if wanted and name not in wanted:
                continue
            subprocess.run([problem_binary, "import", matrices / f"{name}.mtx.gz", folder / f"{name}.h5"],
                           check=True, capture_output=True)
            run, wall, reason = solve(folder, solve_binary, launch, system)
            chosen = preconditioner + "".join(f" {key}={value}" for key, value in options.items())
            if run is None:
                print(f"| {name} | {method} | {chosen} | {ranks} | - | - | {reason} |", flush=True)
                unsolved.append(f"{name}: {reason}")
                continue
            print(f"| {name} | {method} | {chosen} | {ranks} | {run['iterations']} | "
                  f"{run['relative_residual'] or float('nan'):.1e} | {run['seconds']['solve']:.3f} |", flush=True)
            if not (run["converged"] and (run["relative_residual"] or 0) <= TARGET):
                unsolved.append(f"{name}: {reason}")
    for line in unsolved:
        print(f"unsolved: {line}")
    return 1 if unsolved else 0


if __name__ == "__main__":
    sys.exit(main())
