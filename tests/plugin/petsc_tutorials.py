# SPDX-License-Identifier: BSD-3-Clause
"""Tutorials of PETSc solve as well with a KSP type of Trireme as with PETSc's own.

Each line of petsc_tutorials.txt is compiled once and run twice on 1 and on 3 ranks: with PETSc's KSP type and the norm of
b - A x, and with the library loaded and our type alone, whose default norm that is. The runs must have as many linear
solves, each with the same verdict, about as many iterations, and a true residual that is as small.

  petsc_tutorials.py --source DIR --plugin FILE --compiler MPICC --petsc MODULE --mpirun "mpirun -n"
                     [--before COMMAND] [--every N] [--verbose] [name...]

MODULE is PETSc's name for pkg-config, and COMMAND comes before each program that loads the library. --every N takes
each Nth line alone, and names take the lines that contain one of them.
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

TYPES = {"cg": "trireme_cg", "bcgs": "trireme_bicgstab", "minres": "trireme_minres"}
# PETSc's MINRES cannot test the norm of b - A x; for a definite matrix CG needs about as many
# iterations.
REFERENCE = {"minres": "cg"}
RTOL = 1e-8
LIMIT_S = 60


def entries(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                both, _, ours = line.partition("|")
                program, method, *options = shlex.split(both)
                method, _, ranks = method.partition("@")
                yield line, program, method, [int(ranks)] if ranks else [1, 3], options, shlex.split(ours)


def run(command, folder):
    """In `folder`, as some tutorials write files where they are run."""
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT_S, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return f"ended after {LIMIT_S} s", ""
    return None if done.returncode == 0 else f"exit status {done.returncode}", done.stdout


def number_in(text):
    """None where the output of another rank lies within the number."""
    try:
        return float(text)
    except ValueError:
        return None


def solves_of(text):
    """Of each linear solve: the reason, the iterations, the first norm and the true residual."""
    found, first = [], None
    for line in text.splitlines():
        if match := re.match(r"\s*0 KSP Residual norm (\S+)", line):
            first = number_in(match[1])
        elif match := re.search(r"Linear .*solve (?:converged|did not converge) due to (\w+) iterations (\d+)", line):
            found.append([match[1], int(match[2]), first, None])
        elif (match := re.search(r"KSP final norm of residual (\S+)", line)) and found:
            found[-1][3] = number_in(match[1])
    return [tuple(solve) for solve in found]


def differences(method, plain, ours, same_iterations):
    if not any(reason.startswith("CONVERGED") for reason, *_ in plain):
        return ["PETSc's own type solves nothing"]
    if len(plain) != len(ours):
        return [f"{len(plain)} and {len(ours)} linear solves"]
    faults = []
    for number, (one, other) in enumerate(zip(plain, ours)):
        (reason, its, first, residual), (our_reason, our_its, _, our_residual) = one, other
        if reason.split("_")[0] != our_reason.split("_")[0]:
            faults.append(f"solve {number}: {reason} and {our_reason}")
        elif same_iterations and abs(its - our_its) > 2 + its * (0.1 if method == "cg" else 0.4):
            faults.append(f"solve {number}: {its} and {our_its} iterations")
        if residual is None or our_residual is None:
            continue
        small = max(10 * residual, 1.01 * RTOL * (first or 0))
        if reason.startswith("CONVERGED") and not our_residual <= small:
            faults.append(f"solve {number}: a true residual of {our_residual}, and {residual} by PETSc")
    return faults


def check(entry, arguments, folder):
    line, program, method, all_ranks, options, ours = entry
    source = os.path.join(arguments.source, program + ".c")
    executable = os.path.join(folder, program.replace("/", "_"))
    if not os.path.exists(source):
        return line, ["not among the examples"]
    if not os.path.exists(executable):
        made = f"{executable}.{hash(line)}"
        fault, text = run([*shlex.split(arguments.compiler), "-O1", "-w", source, "-o", made,
                           *arguments.flags, "-lm"], folder)
        if fault:
            return line, ["is not compiled: " + text[-300:]]
        os.replace(made, executable)
    common = ["-ksp_rtol", str(RTOL), *options, "-ksp_monitor", "-ksp_converged_reason", "-ksp_view_final_residual"]
    before = arguments.before.replace(";", " ").split()
    same_iterations = "-pc_type" not in ours

    def faults_on(ranks):
        start = [] if ranks == 1 else [*shlex.split(arguments.mpirun), str(ranks)]
        fault, text = run([*start, executable, *common, "-ksp_type", REFERENCE.get(method, method), "-ksp_norm_type",
                           "unpreconditioned"], folder)
        if fault:
            return [f"{ranks} ranks: without the library: {fault}: {text[-300:]}"]
        plain = solves_of(text)
        fault, text = run([*start, *before, executable, *common, "-dll_prepend", arguments.plugin, "-ksp_type",
                           TYPES[method], *ours], folder)
        if fault:
            return [f"{ranks} ranks: {fault}: {text[-600:]}"]
        if arguments.verbose:
            print(line, ranks, plain[:3], solves_of(text)[:3], flush=True)
        return [f"{ranks} ranks: {fault}" for fault in differences(method, plain, solves_of(text), same_iterations)[:3]]

    faults = []
    for ranks in all_ranks:
        # The output of several ranks is sometimes mixed within a line. What differs is run again.
        for _ in range(1 if ranks == 1 else 3):
            found = faults_on(ranks)
            if not found:
                break
        faults += found
    return line, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "plugin", "compiler", "petsc", "mpirun"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--before", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.source):
        print(f"SKIPPED: there are no examples of PETSc in {arguments.source}; on Debian 12 they are the package "
              "libpetsc3.18-dev-examples")
        return 0
    arguments.flags = subprocess.run(["pkg-config", "--cflags", "--libs", arguments.petsc], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout.split()
    chosen = list(entries(os.path.join(os.path.dirname(os.path.abspath(__file__)), "petsc_tutorials.txt")))
    chosen = [entry for entry in chosen if not arguments.names or any(name in entry[0] for name in arguments.names)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for line, faults in pool.map(lambda entry: check(entry, arguments, folder), chosen[::arguments.every]):
            failed += bool(faults)
            for fault in faults:
                print(f"{line}\n  {fault}", flush=True)
    count = len(chosen[::arguments.every])
    print(f"{count - failed} of {count} lines solve as well as by PETSc's own type")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
