# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Multigrid beside PyAMG
#
# [PyAMG](https://pyamg.readthedocs.io) is the package for algebraic multigrid in Python. Its
# gallery makes model problems. This page solves three of them by CG with smoothed aggregation of
# both packages, and counts iterations. The times are those of one run: take them as a hint.

# %%
import time

import numpy as np
from pyamg import smoothed_aggregation_solver
from pyamg.gallery import diffusion_stencil_2d, linear_elasticity, poisson, stencil_grid
from scipy.sparse.linalg import cg

import trireme as tr

RTOL = 1e-8

# %% [markdown]
# - **poisson**: the Laplacian, five points.
# - **elasticity**: displacements in two directions. `near_nullspace` are the motions of the body as
#   a whole: two shifts and a rotation. The gallery returns them with the matrix.
# - **anisotropic**: diffusion that is 100 times weaker across a direction of 30 degrees.

# %%
elasticity, rigid_motions = linear_elasticity((50, 50))
stencil = diffusion_stencil_2d(epsilon=0.01, theta=np.pi / 6, type="FE")
problems = {
    "poisson": (poisson((120, 120), format="csr"), None),
    "elasticity": (elasticity, rigid_motions),
    "anisotropic": (stencil_grid(stencil, (100, 100), format="csr"), None),
}


# %%
def by_pyamg(A, b, near_nullspace):
    residuals = []
    hierarchy = smoothed_aggregation_solver(A, near_nullspace)
    x = hierarchy.solve(b, tol=RTOL, accel="cg", maxiter=200, residuals=residuals)
    return x, len(residuals) - 1


def by_trireme(A, b, near_nullspace, preconditioner="multigrid"):
    solver = tr.Solver(A, "cg", preconditioner, near_nullspace=near_nullspace)
    return solver.solve(b, rtol=RTOL), solver.report["iterations"]


def by_jacobi(A, b, _):
    return by_trireme(A, b, None, "jacobi")


# %% [markdown]
# Both packages may serve scipy's own `cg`. `aspreconditioner` gives its argument `M`.


# %%
def by_scipy(A, b, near_nullspace):
    iterates = []
    M = tr.multigrid(A, near_nullspace=near_nullspace).aspreconditioner()
    x, info = cg(A, b, rtol=RTOL, M=M, callback=lambda xk: iterates.append(None))
    assert info == 0
    return x, len(iterates)


# %%
solvers = {"pyamg": by_pyamg, "trireme": by_trireme, "scipy with M": by_scipy, "jacobi": by_jacobi}
rng = np.random.default_rng(0)
iterations = {}
print("problem      rows   solver             iterations      ms")
for name, (A, near_nullspace) in problems.items():
    b = rng.standard_normal(A.shape[0])
    for solver, function in solvers.items():
        start = time.perf_counter()
        x, count = function(A, b, near_nullspace)
        milliseconds = 1e3 * (time.perf_counter() - start)
        iterations[name, solver] = count
        print(f"{name:12} {len(b):5}   {solver:18} {count:10} {milliseconds:7.1f}")
        assert np.linalg.norm(b - A @ x) <= 2 * RTOL * np.linalg.norm(b)

# %% [markdown]
# Multigrid needs a small part of the iterations that Trireme needs with Jacobi, and each iteration
# does more work. scipy's loop with `M` takes the same steps as ours.

# %%
for name in problems:
    ours = iterations[name, "trireme"]
    assert 5 * ours < iterations[name, "jacobi"]
    assert abs(ours - iterations[name, "scipy with M"]) <= 2
