#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times trireme beside petsc4py's KSP on one process, and prints a table of docs/performance/python.md.

usage: compare_petsc.py [--small]

Each time is the least of three runs in one process, one package after another for each problem, to a true residual of
1e-8 of ||b||, which scipy computes; b is A times a random x. PETSc runs CG with GAMG and with Jacobi, on one core, as it
has no threads; trireme runs on as many as OMP_NUM_THREADS says.
"""
import warnings

import numpy as np
import scipy.sparse as sp
from petsc4py import PETSc

import trireme as tr
from timing import RTOL, SMALL, least


def laplacian(sizes):
    A = sp.csr_matrix((1, 1))
    for n in sizes:
        line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
        A = sp.kron(A, sp.eye(n)) + sp.kron(sp.eye(A.shape[0]), line)
    return A.tocsr()


def problems():
    half = 4 if SMALL else 1
    yield "Poisson 2-D", laplacian((1000 // half,) * 2)
    yield "Poisson 3-D", laplacian((100 // half,) * 3)
    rng = np.random.default_rng(2)
    n = 60 // half
    grid = laplacian((n, n, n))
    scale = sp.diags(np.exp(rng.standard_normal(n**3)))
    yield "Poisson 3-D, D A D", (scale @ grid @ scale).tocsr()


def by_petsc(A, b, pc):
    matrix = PETSc.Mat().createAIJ(A.shape, csr=(A.indptr.astype(PETSc.IntType), A.indices.astype(PETSc.IntType), A.data))
    matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    rhs, x = matrix.createVecs()
    rhs.setArray(b)

    def make():
        ksp = PETSc.KSP().create()
        ksp.setOperators(matrix)
        ksp.setType("cg")
        ksp.getPC().setType(pc)
        ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
        ksp.setTolerances(rtol=RTOL, max_it=20000)
        ksp.setUp()
        return ksp

    set_up, ksp = least(make)
    solve, _ = least(lambda: ksp.solve(rhs, x))
    return set_up, solve, x.getArray().copy()


def by_trireme(A, b, preconditioner):
    def make():
        solver = tr.Solver(A, "cg", preconditioner)
        solver.solve(b, maxiter=1)  # makes the preconditioner
        return solver

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        set_up, solver = least(make)
    solve, x = least(lambda: solver.solve(b, rtol=RTOL))
    return set_up, solve, x


def main():
    print("| problem | rows | preconditioner | PETSc set-up | solve | trireme set-up | solve | times as fast: set-up, solve |")
    print("|---|--:|---|--:|--:|--:|--:|--:|")
    for name, A in problems():
        b = A @ np.random.default_rng(1).standard_normal(A.shape[0])
        for pc, ours in (("gamg", "multigrid"), ("jacobi", "jacobi")):
            theirs = by_petsc(A, b, pc)
            mine = by_trireme(A, b, ours)
            faults = "".join(f" ({who}: {r:.1e})" for who, x in (("PETSc", theirs[2]), ("trireme", mine[2]))
                             if (r := np.linalg.norm(b - A @ x) / np.linalg.norm(b)) > 1.05 * RTOL)
            print(f"| {name}{faults} | {A.shape[0]} | {pc}, {ours} | {theirs[0]:.3f} | {theirs[1]:.3f} | {mine[0]:.3f} | "
                  f"{mine[1]:.3f} | {theirs[0] / mine[0]:.1f}, {theirs[1] / mine[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
