# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # A first solve
#
# The heat in a square plate obeys $-\Delta u = f$, with $u = 0$ on the edge. Finite differences on
# a grid turn this into a linear system $A x = b$ with five nonzeros per row. This page solves it,
# and then asks the solver what it did.

# %%
import numpy as np
import scipy.sparse as sp

import trireme as tr

# %% [markdown]
# The grid has 120 x 120 inner points. We choose $u = x (1 - x) y (1 - y)$ and compute $f$ from it.
# The differences are exact for this $u$, so the system has the values of $u$ as its solution.

# %%
n = 120
h = 1 / (n + 1)
line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)) / h**2
A = sp.csr_array(sp.kronsum(line, line))

points = h * np.arange(1, n + 1)
px, py = np.meshgrid(points, points)
exact = (px * (1 - px) * py * (1 - py)).ravel()
b = 2 * (px * (1 - px) + py * (1 - py)).ravel()

# %% [markdown]
# One call solves the system. `info` is 0 where the residual is small enough. We compute the
# residual again with scipy's product. The solver allows 2 % more than `rtol`, for rounding.

# %%
rtol = 1e-8
x, info = tr.solve(A, b, rtol=rtol)
residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
error = np.abs(x - exact).max() / exact.max()
print(f"info {info}, relative residual {residual:.1e}, relative error {error:.1e}")

assert info == 0
assert residual <= 1.02 * rtol
assert error <= 1e-5

# %% [markdown]
# `Solver` keeps the matrix and a report. In a notebook, `solver.report` alone in a cell shows all
# of it as tables, with a curve of the residual. Here we print a few entries.

# %%
solver = tr.Solver(A)
solver.solve(b, rtol=rtol)
report = solver.report
last = report["last_solve"]
for label, value in {
    "matrix": report["matrix"],
    "method": last["method"],
    "preconditioner": last["preconditioner"],
    "iterations": last["iterations"],
    "kernel": f"{report['kernel']}: {tr.kernels()[report['kernel']]['summary']}",
}.items():
    print(f"{label:15} {value}")

assert last["status"] == "converged" and last["relative_residual"] <= 1.02 * rtol
assert last["method"] in tr.methods() and report["preconditioner"] in tr.preconditioners()
assert "symmetric" in report["matrix"]

# %% [markdown]
# The words of the report are also the words of the arguments. A solve that does not converge gives
# a warning or, with `raise_on_failure`, an exception. The exception has the x that was reached.

# %%
try:
    tr.solve(A, b, method="cg", preconditioner="jacobi", maxiter=5, raise_on_failure=True)
except tr.NotConverged as failure:
    print(failure)
    reached = failure.x
assert np.linalg.norm(b - A @ reached) > rtol * np.linalg.norm(b)
