# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # On a GPU
#
# With a package that was [built with CUDA](../../docs/python.md#gpus), a solver works on arrays of
# CuPy and torch where they are: nothing is copied to the host and back. Without a GPU this page
# says so and ends.

# %%
import importlib.util

import numpy as np
import scipy.sparse as sp

import trireme as tr


def there(library):
    return tr.has_gpu() and importlib.util.find_spec(library) is not None


n = 100
line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
A = (sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)).tocsr()
print("GPU:", tr.has_gpu(), " CuPy:", there("cupy"), " torch:", there("torch"))

# %% [markdown]
# ## CuPy
#
# The matrix may be one of CuPy or of scipy. x is an array of CuPy, and complete when `solve`
# returns. Right-hand sides that a kernel of CuPy is still computing are waited for.

# %%
if there("cupy"):
    import cupy
    import cupyx.scipy.sparse

    on_gpu = cupyx.scipy.sparse.csr_matrix(A)
    solver = tr.Solver(on_gpu, preconditioner="multigrid")
    b = cupy.sin(cupy.arange(n * n))
    x = solver.solve(b)
    assert type(x) is cupy.ndarray and solver.info == 0
    assert cupy.linalg.norm(b - on_gpu @ x) <= 1.02e-8 * cupy.linalg.norm(b)
    print("multigrid on", solver.report["device"], solver.report["last_solve"]["iterations"], "iterations")

# %% [markdown]
# ## Gradients in torch
#
# An implicit time step $(I + \tau A)\, u_{k+1} = u_k$ inside a torch loop. Its derivative by $u_k$
# is a solve with the transposed matrix, which is the same one here. Two lines make a function of
# torch of a solver.


# %%
if there("torch"):
    import torch

    step = tr.Solver(sp.eye_array(n * n) + 0.1 * A, method="cg", device="cuda")

    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx, u):
            return step.solve(u.detach(), rtol=1e-10)

        @staticmethod
        def backward(ctx, gradient):
            return step.solve(gradient.detach(), rtol=1e-10)

    start = torch.rand(n * n, dtype=torch.float64, device="cuda", requires_grad=True)
    u = start
    for _ in range(5):
        u = Step.apply(u)
    loss = (u**2).sum()
    loss.backward()

    # %% [markdown]
    # The gradient is checked by a difference in one direction.

    # %%
    def loss_at(v):
        for _ in range(5):
            v = step.solve(v, rtol=1e-12)
        return float((v**2).sum())

    direction = torch.rand_like(start)
    h = 1e-4
    with torch.no_grad():
        difference = (loss_at(start + h * direction) - loss_at(start - h * direction)) / (2 * h)
    slope = float((start.grad * direction).sum())
    print(f"slope {slope:.6f}, by a difference {difference:.6f}")
    assert np.isclose(slope, difference, rtol=1e-5)
