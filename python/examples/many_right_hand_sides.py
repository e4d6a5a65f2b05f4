# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Many right-hand sides
#
# One matrix often meets many loads: sources at many places, the columns of an inverse, samples of
# random forces. This page solves 16 of them, together and one by one.

# %%
import time
import warnings

import numpy as np
import scipy.sparse as sp

import trireme as tr

n, width = 60, 16
line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
A = sp.csr_array(sp.kronsum(line, line))
B = np.random.default_rng(7).standard_normal((n * n, width))

# %% [markdown]
# The right-hand sides are the columns of a matrix `B`, and the solutions are the columns of `X`.
# The solver multiplies `A` by the vectors of several columns in one pass. Both ways use one
# solver, so the preconditioner is set up once, by the first solve.

# %%
solver = tr.Solver(A, method="cg", preconditioner="multigrid")
solver.solve(B[:, 0])

start = time.perf_counter()
X = solver.solve(B)
together = time.perf_counter() - start
info = solver.info
vectors = solver.report["vectors"]

start = time.perf_counter()
single = np.column_stack([solver.solve(B[:, k]) for k in range(width)])
one_by_one = time.perf_counter() - start
print(f"together {1e3 * together:.1f} ms, one by one {1e3 * one_by_one:.1f} ms")

assert X.shape == B.shape
assert np.abs(X - single).max() <= 1e-6 * np.abs(X).max()

# %% [markdown]
# `solver.info` has one number per column, and `report["vectors"]` has one entry per column.

# %%
residuals = np.linalg.norm(B - A @ X, axis=0) / np.linalg.norm(B, axis=0)
print("column  info  iterations  residual")
for k in range(0, width, 5):
    print(f"{k:6} {info[k]:5} {vectors[k]['iterations']:11} {residuals[k]:9.1e}")

assert info.shape == (width,) and not info.any()
assert residuals.max() <= 1.02e-8

# %% [markdown]
# Columns may end differently. We replace column 3 by an eigenvector of `A`, for which CG needs one
# iteration, and allow no more than 20 iterations with a weak preconditioner. The other columns
# fail. Their `info` is the number of iterations, and one warning tells of the first failure.

# %%
wave = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
B[:, 3] = np.kron(wave, wave)
weak = tr.Solver(A, method="cg", preconditioner="jacobi")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    X = weak.solve(B, maxiter=20)
print(weak.info)
print(caught[0].message)

assert [w.category for w in caught] == [tr.ConvergenceWarning]
assert weak.info[3] == 0 and np.count_nonzero(weak.info) == width - 1

# %% [markdown]
# What has been reached serves as the first guess of another solve. Column 3 is left as it is.

# %%
X = weak.solve(B, x0=X)
iterations = [vector["iterations"] for vector in weak.report["vectors"]]
print(iterations)

assert not weak.info.any()
assert iterations[3] == 0 and min(iterations[:3]) > 0
