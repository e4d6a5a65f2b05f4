#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves systems of dolfinx by petsc4py, by the plugin and by trireme, and prints a table of docs/performance/python.md.

usage: PETSC_OPTIONS="-dll_prepend PATH/libtrireme_petsc.so" OMP_NUM_THREADS=1 compare_dolfinx.py [--small]

A Poisson problem on a cube and an elastic beam, of linear elements on tetrahedra, assembled by dolfinx 0.5. All solve by
CG to 1e-8 of ||b||, in one process. Each time is the least of three, in seconds of the processor, which other programs of
a busy machine disturb less than seconds of the clock.
"""
import time
import warnings

import numpy as np
import scipy.sparse as sp
import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

import trireme as tr
from timing import RTOL, SMALL


def least(work):
    seconds, result = np.inf, None
    for _ in range(3):
        begin = time.process_time()
        result = work()
        seconds = min(seconds, time.process_time() - begin)
    return seconds, result


def held(V, value, where):
    facets = mesh.locate_entities_boundary(V.mesh, 2, where)
    return [fem.dirichletbc(value, fem.locate_dofs_topological(V, 2, facets), V)]


def poisson():
    n = 12 if SMALL else 60
    domain = mesh.create_unit_cube(MPI.COMM_SELF, n, n, n)
    V = fem.FunctionSpace(domain, ("Lagrange", 1))
    u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(domain)
    load = ufl.exp(-((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2) / 0.02)
    walls = held(V, PETSc.ScalarType(0), lambda x: np.isclose(x[0], 0) | np.isclose(x[0], 1))
    return ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, load * v * ufl.dx, walls, None


def beam():
    n = 6 if SMALL else 24
    domain = mesh.create_box(MPI.COMM_SELF, [np.zeros(3), np.array([2.0, 1, 1])], [2 * n, n, n])
    V = fem.VectorFunctionSpace(domain, ("Lagrange", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)

    def strain(w):
        return ufl.sym(ufl.grad(w))

    stress = 2 * strain(u) + 1.25 * ufl.tr(strain(u)) * ufl.Identity(3)
    load = ufl.inner(fem.Constant(domain, PETSc.ScalarType((0, 0, -0.01))), v) * ufl.dx
    wall = held(V, np.zeros(3, dtype=PETSc.ScalarType), lambda x: np.isclose(x[0], 0))
    x = V.tabulate_dof_coordinates()
    modes = np.zeros((3 * len(x), 6))
    for d in range(3):
        modes[d::3, d] = 1
        modes[d::3, 3 + d], modes[(d + 1) % 3::3, 3 + d] = -x[:, (d + 1) % 3], x[:, d]
    return ufl.inner(stress, strain(v)) * ufl.dx, load, wall, np.linalg.qr(modes)[0]


def assembled(a, L, bcs, modes):
    a = fem.form(a)
    A = petsc.assemble_matrix(a, bcs=bcs)
    A.assemble()
    A.setOption(PETSc.Mat.Option.SPD, True)
    b = petsc.assemble_vector(fem.form(L))
    petsc.apply_lifting(b, [a], bcs=[bcs])
    petsc.set_bc(b, bcs)
    if modes is not None:
        vectors = []
        for mode in modes.T:
            vectors.append(A.createVecLeft())
            vectors[-1].array = mode
        A.setNearNullSpace(PETSc.NullSpace().create(vectors=vectors))
    return A, b


def by_petsc(A, b, method, pc):
    def make():
        ksp = PETSc.KSP().create()
        ksp.setOperators(A)
        ksp.setType(method)
        ksp.getPC().setType(pc)
        ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
        ksp.setTolerances(rtol=RTOL, max_it=1000)
        ksp.setUp()
        return ksp

    x = A.createVecRight()
    set_up, ksp = least(make)
    solve, _ = least(lambda: ksp.solve(b, x))
    return set_up, solve, ksp.getIterationNumber(), x.array.copy()


def by_trireme(A, rhs, modes):
    more = {} if modes is None else {"near_nullspace": modes, "block_size": 3}

    def make():
        solver = tr.Solver(A, method="cg", preconditioner="multigrid", **more)
        solver.solve(rhs, maxiter=1)  # makes the levels
        return solver

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        set_up, solver = least(make)
    before = solver.report["iterations"]
    solve, x = least(lambda: solver.solve(rhs, rtol=RTOL))
    return set_up, solve, (solver.report["iterations"] - before) // 3, x


for name, make in (("Poisson", poisson), ("elastic beam", beam)):
    *forms, modes = make()
    A, b = assembled(*forms, modes)
    indptr, indices, data = A.getValuesCSR()
    matrix, rhs = sp.csr_matrix((data, indices, indptr), shape=A.size), b.array.copy()
    print(f"| {name} | {matrix.shape[0]:,} | {matrix.nnz:,} |")
    ways = {f"petsc4py: {method} + {pc}": (lambda method=method, pc=pc: by_petsc(A, b, method, pc))
            for method, pc in (("cg", "gamg"), ("cg", "hypre"), ("cg", "trireme_mg"), ("trireme_cg", "trireme_mg"))}
    ways["trireme.Solver"] = lambda: by_trireme(matrix, rhs, modes)
    for way, work in ways.items():
        set_up, solve, iterations, x = work()
        residual = np.linalg.norm(rhs - matrix @ x) / np.linalg.norm(rhs)
        assert residual <= 1.1 * RTOL, f"{way}: {residual}"
        print(f"| | {way} | {set_up:.3f} | {solve:.3f} | {iterations} |", flush=True)
