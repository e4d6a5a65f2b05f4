#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times trireme beside PyAMG and scipy on PyAMG's gallery, and prints the table of docs/performance/python.md.

usage: compare.py [--small]

Each time is the least of three runs, in one process, one package after another for each problem. All solve to a true
residual of 1e-8 of ||b||, which is computed by scipy; b is random. Needs pip install '.[test]'.
"""
import time
import warnings

import numpy as np
import pyamg
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import trireme as tr
from timing import RTOL, SMALL, least


def problems():
    """Name, matrix, near-nullspace vectors or None."""
    half = 4 if SMALL else 1
    yield "Poisson 2-D", pyamg.gallery.poisson((1000 // half, 1000 // half), format="csr"), None
    yield "Poisson 3-D", pyamg.gallery.poisson((100 // half,) * 3, format="csr"), None
    stencil = pyamg.gallery.diffusion_stencil_2d(epsilon=0.01, theta=np.pi / 3)
    yield "anisotropic 2-D", pyamg.gallery.stencil_grid(stencil, (600 // half,) * 2, format="csr"), None
    A, B = pyamg.gallery.linear_elasticity((300 // half, 300 // half), format="bsr")
    yield "elasticity 2-D", A, B
    for name in ("airfoil", "unit_square"):
        A = pyamg.gallery.load_example(name)["A"].tocsr()
        yield name, sp.csr_matrix(A, dtype=np.float64), None


def check(A, b, x, who):
    residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
    return "" if residual <= 1.05 * RTOL else f" ({who}: {residual:.1e})"


def by_pyamg(A, B, b):
    set_up, levels = least(lambda: pyamg.smoothed_aggregation_solver(A, B=B))
    solve, x = least(lambda: levels.solve(b, tol=RTOL, accel="cg", maxiter=1000))
    return set_up, solve, x


def by_trireme(A, B, b):
    def make():
        solver = tr.Solver(A, "cg", "multigrid", near_nullspace=B)
        solver.solve(b, maxiter=1)  # makes the levels
        return solver

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        set_up, solver = least(make)
    solve, x = least(lambda: solver.solve(b, rtol=RTOL))
    return set_up, solve, x


def by_scipy(A, b):
    D = sp.diags(1 / A.diagonal())
    seconds, (x, _) = least(lambda: spla.cg(A, b, rtol=RTOL, M=D, maxiter=20000), times=1)
    return seconds, x


def by_auto(A, B, b):
    return least(lambda: tr.solve(A, b, rtol=RTOL, near_nullspace=B)[0])


def main():
    print("| problem | rows | nnz | PyAMG set-up | solve | trireme set-up | solve | times as fast | `tr.solve`, all | scipy cg, Jacobi |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, A, B in problems():
        b = A @ np.random.default_rng(1).standard_normal(A.shape[0])
        amg_set_up, amg_solve, amg_x = by_pyamg(A, B, b)
        set_up, solve, x = by_trireme(A, B, b)
        auto, auto_x = by_auto(A, B, b)
        jacobi, jacobi_x = by_scipy(A.tocsr(), b)
        faults = (check(A, b, amg_x, "PyAMG") + check(A, b, x, "trireme") + check(A, b, auto_x, "auto")
                  + check(A, b, jacobi_x, "scipy"))
        print(f"| {name}{faults} | {A.shape[0]} | {A.nnz} | {amg_set_up:.3f} | {amg_solve:.3f} | {set_up:.3f} "
              f"| {solve:.3f} | {amg_set_up / set_up:.1f}, {amg_solve / solve:.1f} | {auto:.3f} | {jacobi:.3f} |", flush=True)
    overhead()


def overhead():
    """Of Solver.solve over the time that the library reports."""
    A = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(24 ** 3, 24 ** 3), format="csr")
    solver = tr.Solver(A, "cg", "jacobi")
    b = np.ones(A.shape[0])
    extra, seconds = [], []
    for _ in range(300):
        begin = time.perf_counter()
        solver.solve(b)
        whole = time.perf_counter() - begin
        inside = solver._last[0].as_dict()["seconds"]
        extra.append(whole - inside)
        seconds.append(inside)
    print(f"\nSolver.solve of {A.shape[0]} rows: {1e6 * np.median(seconds):.0f} us in the library, "
          f"{1e6 * np.median(extra):.1f} us beside it")


if __name__ == "__main__":
    main()
