# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Finite elements with scikit-fem
#
# [scikit-fem](https://scikit-fem.readthedocs.io) assembles matrices of finite elements in Python.
# This page solves two of its systems and compares the solutions with those of scipy's `spsolve`.

# %%
import numpy as np
import skfem
from scipy.sparse.linalg import spsolve
from skfem.models.elasticity import lame_parameters, linear_elasticity
from skfem.models.poisson import laplace, unit_load

import trireme as tr

# %% [markdown]
# ## A membrane
#
# $-\Delta u = 1$ in a disk, and $u = 0$ on its edge. `condense` removes the unknowns on the edge,
# and `skfem.solve` takes a function of `A` and `b` as its solver.


# %%
def by_trireme(A, b, **_):
    return tr.solve(A, b, rtol=1e-10, raise_on_failure=True)[0]


basis = skfem.Basis(skfem.MeshTri.init_circle(4), skfem.ElementTriP2())
K, f = laplace.assemble(basis), unit_load.assemble(basis)
system = skfem.condense(K, f, D=basis.get_dofs())
u = skfem.solve(*system, solver=by_trireme)
direct = skfem.solve(*system)
exact = (1 - (basis.doflocs**2).sum(axis=0)) / 4
print(f"{system[0].shape[0]} unknowns, largest deflection {u.max():.4f}")
distances = np.abs(u - direct).max(), np.abs(u - exact).max()
print("distance from spsolve {:.1e}, from the formula {:.1e}".format(*distances))

assert distances[0] <= 1e-8 * direct.max() and distances[1] <= 1e-3

# %% [markdown]
# ## An elastic beam
#
# A beam of length 4 and height 1 is clamped at its left end, and bends under its own weight. Its
# unknowns are two displacements per node, which stand next to each other.

# %%
mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 4, 81), np.linspace(0, 1, 21))
mesh = mesh.with_boundaries({"left": lambda x: x[0] == 0})
basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementQuad1()))
stiffness = linear_elasticity(*lame_parameters(1e3, 0.3)).assemble(basis)
weight = skfem.LinearForm(lambda v, w: -v[1]).assemble(basis)
A, b, u, free = skfem.condense(stiffness, weight, D=basis.get_dofs("left"))

# %% [markdown]
# Multigrid needs to know that the matrix is that of an elastic body. `coordinates` has one row per
# node. `doflocs` has a column per unknown, so we take every second one of those that are left.

# %%
coordinates = basis.doflocs[:, free].T[::2]
x, info = tr.solve(A, b, rtol=1e-10, preconditioner="multigrid", coordinates=coordinates)
direct = spsolve(A.tocsc(), b)
print(f"{A.shape[0]} unknowns, tip at {x.min():.4f}, by spsolve {direct.min():.4f}")

assert info == 0
assert np.abs(x - direct).max() <= 1e-7 * np.abs(direct).max()

# %% [markdown]
# The iterations show what the knowledge is worth. That two rows belong to one node, which
# `block_size=2` says, multigrid finds in the pattern too.

# %%
iterations = {}
for name, words in {
    "nothing": {},
    "block_size": {"block_size": 2},
    "coordinates": {"coordinates": coordinates},
}.items():
    with tr.Solver(A, "cg", "multigrid", **words) as solver:
        solver.solve(b, rtol=1e-10)
        iterations[name] = solver.report["iterations"]
        print(f"multigrid is told {name:12} {iterations[name]:4} iterations")

assert iterations["coordinates"] < iterations["block_size"] == iterations["nothing"]
