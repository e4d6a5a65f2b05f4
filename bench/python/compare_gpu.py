#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times trireme beside CuPy on a GPU, and prints the tables of docs/performance/python.md.

usage: compare_gpu.py [--small]

Each time is the median of some runs in one process, one package after another for each problem, with A and b on the GPU
and the set-up done. All solve to a true residual of 1e-8 of ||b||, which CuPy computes; b is random. Needs CuPy, and a
package that was built with CUDA.
"""
import time

import cupy
import cupyx.scipy.sparse as csp
import cupyx.scipy.sparse.linalg as cspla
import numpy as np
import scipy.sparse as sp

import trireme as tr
from timing import RTOL, SMALL


def poisson3d(n):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = sp.eye_array(n)
    return (sp.kron(sp.kron(line, eye), eye) + sp.kron(sp.kron(eye, line), eye)
            + sp.kron(sp.kron(eye, eye), line)).tocsr()


def median(work, times):
    seconds = []
    for _ in range(times):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        result = work()
        cupy.cuda.Device().synchronize()
        seconds.append(time.perf_counter() - begin)
    return 1e3 * np.median(seconds), result


def residual(A, x, b):
    return float(cupy.linalg.norm(b - A @ x) / cupy.linalg.norm(b))


def row(name, A, on_gpu, b, times):
    """A line of the table: milliseconds of CuPy's cg and ours, and those of a solve with host arrays."""
    cupys, (x_cupy, info) = median(lambda: cspla.cg(on_gpu, b, rtol=RTOL, maxiter=20000), max(times // 4, 2))
    begin = time.perf_counter()
    solver = tr.Solver(on_gpu, "cg", "none")
    set_up = 1e3 * (time.perf_counter() - begin)
    solver.solve(b)
    ours, x = median(lambda: solver.solve(b, rtol=RTOL), times)
    iterations = solver.report["last_solve"]["iterations"]
    b_host = b.get()
    host, _ = median(lambda: solver.solve(b_host, rtol=RTOL), times)
    print(f"| {name} | {A.shape[0]} | {cupys:.3f} ({residual(on_gpu, x_cupy, b):.1e}) | {ours:.3f} "
          f"({residual(on_gpu, x, b):.1e}) | {cupys / ours:.1f} | {iterations} | {host:.3f} | {set_up:.1f} |", flush=True)
    return solver


def overhead(solver, b):
    beside, inside = [], []
    for _ in range(300):
        begin = time.perf_counter()
        solver.solve(b)
        whole = time.perf_counter() - begin
        inside.append(solver._last[0].as_dict()["seconds"])
        beside.append(whole - inside[-1])
    print(f"\nSolver.solve of {b.size} rows: {1e6 * np.median(inside):.0f} us in the library, "
          f"{1e6 * np.median(beside):.1f} us beside it")


def multigrid(n, times):
    A = poisson3d(n)
    on_gpu = csp.csr_matrix(A)
    b = on_gpu @ cupy.random.default_rng(1).standard_normal(A.shape[0])

    def make():
        solver = tr.Solver(on_gpu, "cg", "multigrid")
        solver.solve(b, rtol=0.5)  # makes the levels
        return solver

    set_up, solver = median(make, 3)
    solver.solve(b)
    solve, x = median(lambda: solver.solve(b, rtol=RTOL), times)
    report = solver.report["last_solve"]
    print(f"| poisson3d {n} | {A.shape[0]} | {set_up:.1f} | {solve:.2f} ({residual(on_gpu, x, b):.1e}) | "
          f"{report['iterations']} |", flush=True)


def main():
    print(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(), "CuPy", cupy.__version__)
    print("| CG | rows | CuPy, ms | trireme, ms | times as fast | iterations | b and x on the host, ms | set-up, ms |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    small = None
    for n, times in ((24, 41), (50, 21)) if SMALL else ((24, 41), (50, 21), (100, 11), (160, 7)):
        A = poisson3d(n)
        on_gpu = csp.csr_matrix(A)
        b = on_gpu @ cupy.random.default_rng(1).standard_normal(A.shape[0])
        solver = row(f"poisson3d {n}", A, on_gpu, b, times)
        small = small or (solver, b)
    overhead(*small)
    print("\n| multigrid-CG | rows | set-up, ms | solve, ms | iterations |")
    print("|---|--:|--:|--:|--:|")
    for n in (50,) if SMALL else (100, 160):
        multigrid(n, 11)


if __name__ == "__main__":
    main()
