# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Time steps
#
# Heat flows in an insulated plate, $\partial u / \partial t = \nabla \cdot (k \nabla u)$. The
# conductivity $k$ changes, so each implicit step solves a system with new values at the same
# places. This page keeps one solver for all steps.

# %%
import time

import numpy as np
import scipy.sparse as sp

import trireme as tr

n, steps, dt = 80, 10, 6e-3
h, places = 1 / n, np.linspace(0, 1, n)

# %% [markdown]
# `G` takes the difference over each edge between two cells. A step from $u$ to $v$ solves
# $(I + \Delta t\, G^T K G)\, v = u$, where the diagonal of $K$ has the conductivity of each edge.
# A front moves through the plate, in which the conductivity is 50 times that elsewhere. At the
# start, the left half of the plate is hot.

# %%
difference = sp.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(n - 1, n)) / h
G = sp.csr_array(
    sp.vstack([sp.kron(sp.eye_array(n), difference), sp.kron(difference, sp.eye_array(n))])
)
middle = abs(G) @ np.tile(places, n) * h / 2


def matrix_of_step(step):
    front = step / steps
    k = 1 + 49 * np.exp(-(((middle - front) / 0.1) ** 2))
    return sp.csr_array(sp.eye_array(n * n) + dt * (G.T @ sp.diags_array(k) @ G))


matrices = [matrix_of_step(step) for step in range(steps)]
start_u = np.tile(np.where(places < 0.5, 1.0, 0.0), n)

# %% [markdown]
# `update` gives new values to the solver and keeps everything else: the layout of the kernel, the
# memory, and the kind of preconditioner. It refuses a matrix with other places. `x0` is the
# solution of the step before. `solves_after` tells the preconditioner "auto" how many solves will
# follow, so that it can weigh a set-up against all of them.


# %%
def march(guess=True, outlook=True, **options):
    u = start_u
    with tr.Solver(matrices[0], **options) as solver:
        for step, A in enumerate(matrices):
            if step > 0:
                solver.update(A)
            after = steps - 1 - step if outlook else 0
            v = solver.solve(u, x0=u if guess else None, solves_after=after, rtol=1e-9)
            assert solver.info == 0 and np.linalg.norm(u - A @ v) <= 1.02e-9 * np.linalg.norm(u)
            u = v
        return u, solver.report


# %%
results = {}
print("run                         iterations  preconditioner       ms")
for name, words in {
    "jacobi, from zero": {"preconditioner": "jacobi", "guess": False},
    "jacobi, from step before": {"preconditioner": "jacobi"},
    "auto, without an outlook": {"outlook": False},
    "auto": {},
}.items():
    start = time.perf_counter()
    u, report = march(**words)
    milliseconds = 1e3 * (time.perf_counter() - start)
    results[name] = u, report["iterations"]
    print(f"{name:26} {report['iterations']:11}  {report['preconditioner']:14} {milliseconds:8.1f}")

# %% [markdown]
# Nothing leaves the plate: the sum of $u$ stays, and no place becomes colder or warmer than the
# plate was. The step before is the better first guess, by more where $u$ changes less per step.
# "auto" decides by measured times: its iterations and times differ from run to run.

# %%
reference, from_zero = results["jacobi, from zero"]
for u, _ in results.values():
    assert abs(u.sum() - start_u.sum()) <= 1e-6 * start_u.sum()
    assert np.abs(u - reference).max() <= 1e-6
assert results["jacobi, from step before"][1] < from_zero
assert start_u.min() - 1e-6 <= reference.min() < reference.max() <= start_u.max() + 1e-6
