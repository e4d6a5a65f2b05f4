# SPDX-License-Identifier: BSD-3-Clause
"""One of the processes of test_ranks.py, which mpirun starts."""

import warnings

import numpy as np
import scipy.sparse as sp
from mpi4py import MPI

import trireme as tr

comm = MPI.COMM_WORLD
size, rank = comm.size, comm.rank
n = 30
line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
A = sp.csr_array(sp.kronsum(line, line))
ends = [A.shape[0] * (r * r) // (size * size) for r in range(size + 1)]
mine = slice(ends[rank], ends[rank + 1])
rows = sp.csr_array(A[mine])
rng = np.random.default_rng(5)
b, B = rng.standard_normal(A.shape[0]), rng.standard_normal((A.shape[0], 5))


def whole(x):
    return np.concatenate(comm.allgather(x))


def residual(x, right):
    return np.linalg.norm(right - A @ whole(x)) / np.linalg.norm(right)


def raises(kind, words, work):
    try:
        work()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError("accepted")


x, info = tr.solve(rows, b[mine], comm=comm, rtol=1e-10)
assert info == 0 and residual(x, b) <= 1.03e-10

with tr.Solver(rows, "cg", "multigrid", comm=comm) as solver:
    assert solver.shape == rows.shape
    assert solver.report["rows"] == A.shape[0] and solver.report["nnz"] == A.nnz
    alone = tr.Solver(A, "cg", "multigrid", device="cpu")
    alone.solve(b)
    assert residual(solver.solve(b[mine]), b) <= 1.03e-8
    iterations = [s.report["last_solve"]["iterations"] for s in (solver, alone)]
    assert abs(iterations[0] - iterations[1]) <= 1, iterations
    assert residual(solver.solve(B[mine]), B) <= 1.03e-8
    seen = []
    solver.solve(b[mine], callback=lambda now: seen.append(residual(now, b)))
    assert len(seen) >= iterations[0] and seen[-1] <= 1.03e-8, seen
    r = solver.aspreconditioner().matvec(b[mine])
    assert r.shape == b[mine].shape
    solver.update(2 * rows)
    assert np.allclose(2 * whole(solver.solve(b[mine])), sp.linalg.spsolve(sp.csc_array(A), b), atol=1e-5)

    # What is wrong in one process is raised in all.
    last = rank == size - 1
    raises(ValueError, "b has the shape", lambda: solver.solve(b[mine][1:] if last else b[mine]))
    raises(ValueError, "at other places", lambda: solver.update(rows[:, ::-1] if last else 2 * rows))
    bad = b[mine].copy()
    bad[-1:] = np.nan if last else 1
    raises(tr.InputError, "= nan", lambda: solver.solve(bad))
    if size > 1:
        raises(ValueError, "differ from those of rank 0", lambda: solver.solve(b[mine], rtol=1e-3 if last else 1e-4))
    assert residual(solver.solve(b[mine]), b) > 0.1  # the values are twice as large

    def end(now):
        if last:
            raise KeyError("of the last one")

    if last:
        raises(KeyError, "of the last one", lambda: solver.solve(b[mine], callback=end))
    else:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solver.solve(b[mine], callback=end)
        assert any("stopped by the caller" in str(w.message) for w in caught), caught

raises(TypeError, "comm is a int", lambda: tr.Solver(A, comm=3))
if size > 1:
    raises(ValueError, "works on CPUs", lambda: tr.Solver(rows, device="cuda", comm=comm))
print(f"rank {rank} of {size} is done")
