# SPDX-License-Identifier: BSD-3-Clause
"""What trireme takes, gives back and refuses."""

from __future__ import annotations

import copy
import doctest
import gc
import importlib
import json
import pathlib
import pickle
import pkgutil
import subprocess
import sys
import threading
import time
import warnings
import xml.etree.ElementTree

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import convection, poisson, relative_residual

import trireme as tr

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
SCIPY_NAMES = ("cg", "bicgstab", "minres", "gmres")


def one_line(failure) -> str:
    text = str(failure.value)
    assert text and "\n" not in text
    return text


# --- matrices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_every_sparse_format_is_solved(format, kind):
    A = kind(poisson(8)).asformat(format)
    x, info = tr.solve(A, np.ones(64))
    assert info == 0 and relative_residual(A, x, np.ones(64)) <= 1e-8


def test_dense_matrices_are_solved():
    dense = poisson(5).toarray()
    for A in (dense, np.asfortranarray(dense), dense[::-1, ::-1], np.asmatrix(dense)):
        x, info = tr.solve(A, np.ones(25))
        assert info == 0 and x.shape == (25,) and relative_residual(A, x, np.ones(25)) <= 1e-8


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", ">f8", "g"])
def test_real_types_are_converted(dtype):
    A = sp.csr_array(np.eye(6).astype(np.float64))
    A.data = A.data.astype(dtype)
    x, info = tr.solve(A, np.arange(6.0))
    assert info == 0 and x.dtype == np.float64
    np.testing.assert_allclose(x, np.arange(6.0), rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_both_widths_of_indices_are_taken(dtype):
    A = poisson(6)
    A.indices, A.indptr = A.indices.astype(dtype), A.indptr.astype(dtype)
    assert tr.solve(A, np.ones(36))[1] == 0


def test_indices_of_two_widths_are_taken():
    A = poisson(6)
    A.indptr = A.indptr.astype(np.int64)
    assert tr.solve(A, np.ones(36))[1] == 0


def test_unsorted_and_repeated_entries_add_up():
    A = sp.csr_array(
        (np.array([1.0, 3.0, 1.0, -1.0, 5.0]), np.array([1, 0, 0, 0, 1]), np.array([0, 3, 5])),
        shape=(2, 2),
    )
    x, info = tr.solve(A, np.array([1.0, 2.0]))
    assert info == 0
    np.testing.assert_allclose(x, np.linalg.solve([[4.0, 1.0], [-1.0, 5.0]], [1.0, 2.0]), rtol=1e-7)


def test_room_behind_the_last_nonzero_is_not_read():
    A = poisson(4)
    A.indices = np.append(A.indices, [10**6] * 3).astype(np.int32)
    A.data = np.append(A.data, [np.nan] * 3)
    assert tr.solve(A, np.ones(16))[1] == 0


def test_read_only_and_non_contiguous_matrix_arrays():
    A = poisson(6)
    wide = np.zeros(2 * A.nnz)
    wide[::2] = A.data
    A.data = wide[::2]
    A.indices.flags.writeable = A.indptr.flags.writeable = False
    assert tr.solve(A, np.ones(36))[1] == 0


def test_block_size_comes_from_bsr():
    A = sp.bsr_array(sp.kron(poisson(4), np.eye(3) + 0.1), blocksize=(3, 3))
    assert tr._arrays.matrix_of(A).block_size == 3
    assert tr._arrays.matrix_of(A.tocsr()).block_size == 1
    assert relative_residual(A, tr.solve(A, np.ones(48))[0], np.ones(48)) <= 1e-8


def test_empty_and_single_systems():
    for A in (np.zeros((0, 0)), sp.csr_array((0, 0))):
        for name in SCIPY_NAMES:
            x, info = getattr(tr, name)(A, np.zeros(0))
            assert x.shape == (0,) and info == 0
        x, info = tr.solve(A, np.zeros(0))
        assert x.shape == (0,) and info == 0
    x, info = tr.solve(np.array([[4.0]]), [2.0])
    assert info == 0 and x[0] == pytest.approx(0.5)


@pytest.mark.parametrize("name", ("solve", *SCIPY_NAMES))
def test_the_matrix_is_not_changed(name):
    A = sp.csr_array((np.array([2.0, 1.0, 4.0]), np.array([1, 0, 0]), np.array([0, 2, 3])), (2, 2))
    before = [a.copy() for a in (A.data, A.indices, A.indptr)]
    getattr(tr, name)(A.T @ A, np.ones(2))
    getattr(tr, "gmres")(A, np.ones(2))
    for old, new in zip(before, (A.data, A.indices, A.indptr)):
        np.testing.assert_array_equal(old, new)


# --- right-hand sides ----------------------------------------------------------------------------


def layouts(b):
    spread = np.zeros((*b.shape, 2))
    spread[..., 0] = b
    locked = b.copy()
    locked.flags.writeable = False
    raw = np.zeros(b.nbytes + 1, dtype=np.uint8)[1:]
    unaligned = raw.view(np.float64).reshape(b.shape)
    unaligned[...] = b
    return {
        "C": np.ascontiguousarray(b),
        "Fortran": np.asfortranarray(b),
        "strided": spread[..., 0],
        "reversed": np.ascontiguousarray(b[::-1])[::-1],
        "read-only": locked,
        "unaligned": unaligned,
        "list": b.tolist(),
    }


@pytest.mark.parametrize("shape", [(25,), (25, 1), (25, 4)])
@pytest.mark.parametrize("layout", list(layouts(np.zeros(1))))
def test_every_layout_of_b_gives_the_same_result(shape, layout, rng):
    A = poisson(5)
    b = rng.standard_normal(shape)
    x, info = tr.solve(A, layouts(b)[layout])
    assert x.shape == shape and x.dtype == np.float64 and not np.any(info)
    np.testing.assert_allclose(x, spla.spsolve(sp.csc_array(A), b).reshape(shape), rtol=1e-6)


def test_results_have_the_layout_of_b():
    B = np.ones((25, 3))
    solver = tr.Solver(poisson(5))
    assert solver.solve(B).flags.c_contiguous
    assert solver.solve(np.asfortranarray(B)).flags.f_contiguous


def test_no_right_hand_side():
    x, info = tr.solve(poisson(3), np.zeros((9, 0)))
    assert x.shape == (9, 0) and info.shape == (0,)


def test_integers_in_b():
    x, info = tr.solve(np.diag([2, 4]), np.array([1, 1], dtype=np.int16))
    assert info == 0
    np.testing.assert_allclose(x, [0.5, 0.25], rtol=1e-7)


@pytest.mark.parametrize("name", ("solve", *SCIPY_NAMES))
def test_float32_gives_float32(name):
    A = poisson(5).astype(np.float32)
    b = np.ones(25, dtype=np.float32)
    x, info = getattr(tr, name)(A, b, rtol=1e-12)
    assert x.dtype == np.float32 and info == 0
    assert relative_residual(A, x.astype(float), b) <= 1e-5
    assert getattr(tr, name)(A, b.astype(float))[0].dtype == np.float64
    assert getattr(tr, name)(A.astype(float), b)[0].dtype == np.float64


def test_b_and_x0_are_not_changed():
    b, x0 = np.ones(25), np.full(25, 0.5)
    for name in ("solve", *SCIPY_NAMES):
        getattr(tr, name)(poisson(5), b, x0)
    np.testing.assert_array_equal(b, 1.0)
    np.testing.assert_array_equal(x0, 0.5)


def test_a_guess_that_solves_takes_no_iteration():
    A = poisson(5)
    solver = tr.Solver(A, method="cg", preconditioner="jacobi")
    x = solver.solve(np.ones(25), rtol=1e-12)
    again = solver.solve(np.ones(25), x, rtol=1e-8)
    assert solver.report["last_solve"]["iterations"] == 0
    np.testing.assert_allclose(x, again, rtol=1e-12)


def test_guesses_of_many_right_hand_sides(rng):
    B = rng.standard_normal((25, 3))
    solver = tr.Solver(poisson(5), method="cg", preconditioner="jacobi")
    X = solver.solve(B, rtol=1e-12)
    solver.solve(B, X)
    assert [v["iterations"] for v in solver.report["vectors"]] == [0, 0, 0]


def test_many_right_hand_sides_have_an_info_each(rng):
    B = rng.standard_normal((100, 3))
    B[:, 1] = 0.0
    solver = tr.Solver(poisson(10), method="cg", preconditioner="none", scaling="none")
    with pytest.warns(tr.ConvergenceWarning, match="right-hand side 0: "):
        X = solver.solve(B, maxiter=2)
    assert X.shape == (100, 3) and solver.info.tolist() == [2, 0, 2]
    assert len(solver.report["vectors"]) == 3
    assert solver.report["last_solve"]["status"] == "not converged"
    solver.solve(B)
    assert solver.info.tolist() == [0, 0, 0]


# --- callbacks, signals, threads -----------------------------------------------------------------


def test_callbacks_get_solutions_of_their_own():
    A, b, seen = poisson(8), np.ones(64), []
    x, info = tr.cg(A, b, callback=seen.append)
    assert info == 0 and len(seen) > 3 and len({id(v) for v in seen}) == len(seen)
    residuals = [np.linalg.norm(b - A @ v) for v in seen]
    assert residuals[-1] <= 1e-5 * np.linalg.norm(b) < residuals[0]
    np.testing.assert_allclose(seen[-1], x, rtol=1e-12)


def test_a_callback_of_a_solver_ends_it_by_true_only():
    solver = tr.Solver(poisson(8), method="cg", preconditioner="none", scaling="none")
    seen = []
    with pytest.warns(tr.ConvergenceWarning):
        solver.solve(np.ones(64), callback=lambda x: seen.append(x) or len(seen) == 2)
    assert len(seen) == 2 and solver.info in (2, 3)
    assert solver.report["last_solve"]["status"] == "interrupted"
    solver.solve(np.ones(64), callback=lambda x: "a word that is true")
    assert solver.info == 0


class Planted(Exception):
    pass


@pytest.mark.parametrize("name", ("solve", *SCIPY_NAMES))
def test_an_exception_of_a_callback_ends_the_solve(name):
    calls = []

    def callback(x):
        calls.append(x)
        raise Planted("out of here")

    options = {"callback_type": "pr_norm"} if name == "gmres" else {}
    if name == "solve":
        options = {"method": "cg", "preconditioner": "none", "scaling": "none"}
    with pytest.raises(Planted, match="out of here"):
        getattr(tr, name)(poisson(8), np.ones(64), callback=callback, **options)
    assert len(calls) == 1


def test_a_solver_works_after_an_exception_of_a_callback():
    solver = tr.Solver(poisson(8), method="cg", preconditioner="none", scaling="none")
    with pytest.raises(ZeroDivisionError):
        solver.solve(np.ones(64), callback=lambda x: 1 / 0)
    assert relative_residual(poisson(8), solver.solve(np.ones(64)), np.ones(64)) <= 1e-8


def test_a_callback_cannot_use_its_own_solver():
    solver = tr.Solver(poisson(8), method="cg", preconditioner="none", scaling="none")
    with pytest.raises(RuntimeError, match="callback"):
        solver.solve(np.ones(64), callback=lambda x: solver.solve(np.ones(64)))
    assert solver.solve(np.ones(64)).shape == (64,)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, scipy.sparse as sp, trireme as tr
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
n = 200_000
A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
solver = tr.Solver(A, method="cg", preconditioner="none", scaling="none")
sent = []
def send():
    time.sleep(0.5)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
try:
    solver.solve(np.ones(n), rtol=1e-15, maxiter=10**9)
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
else:
    print("not interrupted")
"""


def test_ctrl_c_ends_a_solve_soon():
    path = str(pathlib.Path(tr.__file__).parents[1])
    program = f"import sys; sys.path.insert(0, {path!r})\n{INTERRUPTED}"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) < 0.2


def test_threads_solve_at_the_same_time(rng):
    systems = [(convection(300 + k), rng.standard_normal(300 + k)) for k in range(6)]
    results = {}

    def work(k):
        A, b = systems[k]
        for _ in range(5):
            results[k] = relative_residual(A, tr.solve(A, b)[0], b)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6 and max(results.values()) <= 1e-8


def test_threads_of_one_solver_wait_for_each_other(rng):
    A = convection(400)
    solver = tr.Solver(A)
    bs = rng.standard_normal((8, 400))
    residuals = [1.0] * 8

    def work(k):
        residuals[k] = relative_residual(A, solver.solve(bs[k]), bs[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(residuals) <= 1e-8


def test_the_gil_is_free_while_solving():
    n = 100_000
    A = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
    solver = tr.Solver(A, method="cg", preconditioner="none", scaling="none")

    def work():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solver.solve(np.ones(n), rtol=1e-15, maxiter=300)

    thread = threading.Thread(target=work)
    thread.start()
    steps = 0
    while thread.is_alive():
        time.sleep(0.001)
        steps += 1
    thread.join()
    assert steps > 5


@pytest.mark.skipif(not hasattr(sys.modules["os"], "fork"), reason="there is no fork here")
def test_a_child_after_import_can_solve():
    path = str(pathlib.Path(tr.__file__).parents[1])
    program = f"""
import sys; sys.path.insert(0, {path!r})
import os, numpy as np, trireme as tr
child = os.fork()
if child == 0:
    os._exit(tr.solve(np.eye(4), np.ones(4))[1])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


@pytest.mark.parametrize("first", ["trireme", "numpy", "scipy.sparse.linalg"])
def test_the_order_of_imports_does_not_matter(first):
    path = str(pathlib.Path(tr.__file__).parents[1])
    program = f"""
import sys; sys.path.insert(0, {path!r})
import {first}
import trireme, numpy, scipy.sparse.linalg
assert trireme.solve(numpy.eye(4), numpy.ones(4))[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# --- lifetimes -----------------------------------------------------------------------------------


def test_the_solver_has_its_own_copy_of_the_matrix():
    A = poisson(8)
    solver = tr.Solver(A)
    truth = A.copy()
    A.data[:] = np.nan
    A.indices[:] = -5
    del A
    gc.collect()
    junk = [np.full(1000, np.nan) for _ in range(50)]
    x = solver.solve(np.ones(64))
    assert relative_residual(truth, x, np.ones(64)) <= 1e-8 and len(junk) == 50


def test_operators_keep_what_they_need():
    M = tr.Solver(np.diag([1.0, 2.0]), preconditioner="jacobi").aspreconditioner()
    op = tr.aslinearoperator(sp.csr_array(np.diag([1.0, 2.0])))
    gc.collect()
    np.testing.assert_allclose(M.matvec(np.ones(2)), [1.0, 0.5])
    np.testing.assert_allclose(op @ np.ones(2), [1.0, 2.0])


def refused():
    solver = tr.Solver(np.eye(2), preconditioner="jacobi")
    return [solver, solver.aspreconditioner(), tr.aslinearoperator(np.eye(2))]


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("number", range(3))
def test_pickle_and_copy_are_refused_with_a_reason(way, number):
    with pytest.raises(TypeError) as failure:
        way(refused()[number])
    assert "another one from the matrix" in one_line(failure)


def test_a_closed_solver_says_so():
    with tr.Solver(np.eye(2), preconditioner="jacobi") as solver:
        M = solver.aspreconditioner()
    solver.close()
    for use in (lambda: solver.solve(np.ones(2)), lambda: solver.report, lambda: M @ np.ones(2)):
        with pytest.raises(ValueError) as failure:
            use()
        assert one_line(failure) == "this solver is closed"
    assert "closed" in repr(solver)


# --- new values ----------------------------------------------------------------------------------


def test_update_takes_values_or_a_matrix(rng):
    A, b = poisson(6), rng.standard_normal(36)
    solver = tr.Solver(A)
    solver.solve(b)
    for new in (3.0 * A, -2.0 * A):
        solver.update(new.data)
        assert relative_residual(new, solver.solve(b), b) <= 1e-8
    solver.update(A)
    assert relative_residual(A, solver.solve(b), b) <= 1e-8
    wide = A.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    solver.update(wide)
    solver.update(sp.coo_array(A))


def test_update_of_unsorted_and_repeated_entries():
    columns, offsets = np.array([1, 0, 0, 0, 1]), np.array([0, 3, 5])
    A = sp.csr_array((np.array([1.0, 3.0, 1.0, -1.0, 5.0]), columns, offsets), shape=(2, 2))
    solver = tr.Solver(A)
    solver.solve(np.ones(2))
    new = sp.csr_array((np.array([2.0, 5.0, 4.0, 1.0, 7.0]), columns, offsets), shape=(2, 2))
    for given in (new.data, new):
        solver.update(given)
        assert relative_residual(new, solver.solve(np.ones(2)), np.ones(2)) <= 1e-8


def test_update_refuses_other_places():
    solver = tr.Solver(poisson(4))
    for A in (np.eye(16), poisson(5)):
        with pytest.raises(ValueError) as failure:
            solver.update(A)
        assert "other places" in one_line(failure)
    for values in (np.ones(3), np.array([], dtype=float)):
        with pytest.raises(ValueError) as failure:
            solver.update(values)
        one_line(failure)
    values = poisson(4).data
    values[5] = np.nan
    with pytest.raises(tr.InputError) as failure:
        solver.update(values)
    one_line(failure)
    with pytest.raises(TypeError):
        solver.update(values.astype(complex))


# --- reports -------------------------------------------------------------------------------------


def test_reports_are_dictionaries_json_and_html():
    solver = tr.Solver(poisson(8), method="cg", preconditioner="jacobi")
    assert solver.report["last_solve"] is None and "<svg" not in solver.report.to_html()
    solver.solve(np.ones(64))
    report = solver.report
    assert report["rows"] == 64 and report["solves"] == 1
    last = report["last_solve"]
    assert last["status"] == "converged" and len(last["history"]) == last["iterations"] + 1
    assert json.loads(report.to_json())["last_solve"]["iterations"] == last["iterations"]
    assert "<svg" in report._repr_html_() and "cg" in report._repr_html_()


def test_kernels_are_timed_where_many_solves_are_ahead():
    solver = tr.Solver(poisson(40), method="cg", preconditioner="jacobi", device="cpu")
    b = np.random.default_rng(3).standard_normal(1600)
    for _ in range(2):
        assert solver.report["kernels"] == []
        x = solver.solve(b, solves_after=10_000_000)
    x = solver.solve(b, solves_after=10_000_000)
    assert relative_residual(poisson(40), x, b) <= 1.03e-8
    trials = solver.report["kernels"]
    assert trials[0]["kernel"] == solver.report["kernel"]
    assert sum(trial["product_microseconds"] > 0 for trial in trials) > 1
    page = solver.report.to_html()
    assert all(trial["kernel"] in page and trial["verdict"] in page for trial in trials)


def test_reports_escape_text_and_skip_what_json_has_not():
    report = tr.Report(
        matrix="<script>alert(1)</script>",
        value=float("nan"),
        levels=[{"rows": 4, "nnz": 10}],
        last_solve={
            "text": "a < b & c",
            "attempts": [{"method": "cg", "why": "'<i>'"}],
            "history": [1.0, float("inf"), 0.0, 1e-3, 1e-9],
        },
    )
    assert json.loads(report.to_json())["value"] is None
    page = report.to_html()
    assert "<script>" not in page and "<i>" not in page and "&lt;script&gt;" in page
    xml.etree.ElementTree.fromstring(report._repr_html_())


def test_failures_warn_or_raise():
    A = poisson(8)
    options = dict(method="cg", preconditioner="none", scaling="none", maxiter=3)
    with pytest.warns(tr.ConvergenceWarning) as heard:
        x, info = tr.solve(A, np.ones(64), **options)
    assert info == 3 and x.shape == (64,) and heard[0].filename == __file__
    with pytest.raises(tr.NotConverged) as failure:
        tr.solve(A, np.ones((64, 1)), raise_on_failure=True, **options)
    assert failure.value.x.shape == (64, 1)
    assert failure.value.report["last_solve"]["iterations"] == 3
    one_line(failure)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tr.cg(A, np.ones(64), maxiter=3)[1] == 3


# --- operators -----------------------------------------------------------------------------------


def test_operators_multiply_as_scipy_does(rng):
    A = sp.random_array((30, 20), density=0.2, rng=rng, format="csr")
    op = tr.aslinearoperator(A)
    assert op.shape == (30, 20) and op.dtype == np.float64 and op.device in ("cpu", "cuda")
    assert op.kernel in tr.kernels()
    x, y, X = rng.standard_normal(20), rng.standard_normal(30), rng.standard_normal((20, 3))
    np.testing.assert_allclose(op @ x, A @ x, rtol=1e-12)
    np.testing.assert_allclose(op.T @ y, A.T @ y, rtol=1e-12)
    np.testing.assert_allclose(op.H @ y, A.T @ y, rtol=1e-12)
    np.testing.assert_allclose(op @ X, A @ X, rtol=1e-12)
    np.testing.assert_allclose(op @ np.asfortranarray(X), A @ X, rtol=1e-12)
    np.testing.assert_allclose(op @ x[::-1], A @ x[::-1], rtol=1e-12)
    np.testing.assert_allclose(op @ (x + 2j * x), A @ (x + 2j * x), rtol=1e-12)
    np.testing.assert_allclose(op @ np.arange(20), A @ np.arange(20), rtol=1e-12)
    assert (op @ np.zeros((20, 0))).shape == (30, 0)


def test_operators_serve_scipy():
    A = poisson(10)
    M = tr.multigrid(A, cycle="v", degree=2).aspreconditioner()
    for name in ("cg", "gmres"):
        x, info = getattr(spla, name)(tr.aslinearoperator(A), np.ones(100), M=M, rtol=1e-8)
        assert info == 0 and relative_residual(A, x, np.ones(100)) <= 1e-8
    values = spla.eigsh(tr.aslinearoperator(A), k=2, return_eigenvectors=False)
    np.testing.assert_allclose(values, spla.eigsh(A, k=2, return_eigenvectors=False))


def test_a_preconditioner_must_be_named():
    for name in ("auto", "chebyshev"):
        M = tr.Solver(np.eye(3), preconditioner=name).aspreconditioner()
        with pytest.raises(ValueError) as failure:
            M @ np.ones(3)
        one_line(failure)


# --- bad input, each with its line ---------------------------------------------------------------


def with_entry(number, value):
    A = poisson(4)
    A.data[number] = value
    return A


def with_index(value):
    A = poisson(4)
    A.indices[7] = value
    return A


def with_indptr(change):
    A = poisson(4)
    A.indptr = change(A.indptr)
    return A


ONES = np.ones(16)
BAD = {
    "complex A": (lambda: tr.solve(np.eye(2) * 1j, np.ones(2)), TypeError, "A is complex128"),
    "complex sparse A": (
        lambda: tr.Solver(sp.csr_array(np.eye(2) * 1j)), TypeError, "A is complex128"),
    "objects in A": (
        lambda: tr.solve(np.array([[None]]), np.ones(1)), TypeError, "A has the type object"),
    "text in A": (lambda: tr.solve(np.array([["1"]]), np.ones(1)), TypeError, "A has the type"),
    "no matrix": (lambda: tr.solve("A", np.ones(1)), TypeError, "A is a str"),
    "nested lists": (lambda: tr.cg([[1.0]], [1.0]), TypeError, "A is a list"),
    "an operator": (
        lambda: tr.solve(spla.aslinearoperator(np.eye(2)), np.ones(2)), TypeError, "A is a "),
    "one dimension": (lambda: tr.solve(np.ones(3), np.ones(3)), ValueError, "two dimensions"),
    "sparse in one dimension": (
        lambda: tr.Solver(sp.coo_array(np.ones(3))), ValueError, "two dimensions"),
    "not square": (
        lambda: tr.solve(np.ones((2, 3)), np.ones(2)), ValueError, "2 rows and 3 columns"),
    "cg, not square": (
        lambda: tr.cg(np.ones((2, 3)), np.ones(2)), ValueError, "2 rows and 3 columns"),
    "nan in A": (lambda: tr.solve(with_entry(5, np.nan), ONES), tr.InputError, "finite"),
    "inf in A": (lambda: tr.cg(with_entry(5, np.inf), ONES), tr.InputError, "finite"),
    "large index": (lambda: tr.Solver(with_index(16)), tr.InputError, "16"),
    "negative index": (lambda: tr.Solver(with_index(-1)), tr.InputError, "-1"),
    "product, large index": (lambda: tr.aslinearoperator(with_index(99)), tr.InputError, "99"),
    "short indptr": (
        lambda: tr.Solver(with_indptr(lambda p: p[:-1])), tr.InputError, "do not fit"),
    "long indptr": (
        lambda: tr.Solver(with_indptr(lambda p: p + 10**6)), tr.InputError, "do not fit"),
    "indptr that descends": (
        lambda: tr.Solver(with_indptr(lambda p: np.r_[p[:3], 50, p[4:]])), tr.InputError, ""),
    "b too short": (lambda: tr.solve(poisson(4), np.ones(3)), ValueError, "16 rows"),
    "b with three dimensions": (
        lambda: tr.solve(poisson(4), np.ones((16, 1, 1))), ValueError, "(16, 1, 1)"),
    "b is a number": (lambda: tr.solve(poisson(4), 1.0), ValueError, "()"),
    "cg, two columns": (lambda: tr.cg(poisson(4), np.ones((16, 2))), ValueError, "(16, 2)"),
    "complex b": (lambda: tr.solve(poisson(4), ONES * 1j), TypeError, "b is complex128"),
    "objects in b": (lambda: tr.solve(poisson(4), [None] * 16), TypeError, "b has the type object"),
    "sparse b": (lambda: tr.solve(poisson(4), sp.csr_array(ONES)), TypeError, "b is sparse"),
    "nan in b": (
        lambda: tr.solve(poisson(4), np.r_[ONES[:3], np.nan, ONES[4:]]), tr.InputError, "3"),
    "inf in b": (
        lambda: tr.cg(poisson(4), np.r_[ONES[:3], np.inf, ONES[4:]]), tr.InputError, "3"),
    "nan in x0": (lambda: tr.solve(poisson(4), ONES, ONES * np.nan), tr.InputError, "finite"),
    "x0 too long": (lambda: tr.solve(poisson(4), ONES, np.ones(17)), ValueError, "x0"),
    "x0 with columns": (lambda: tr.solve(poisson(4), ONES, np.ones((16, 2))), ValueError, "x0"),
    "a word as x0": (lambda: tr.cg(poisson(4), ONES, "b"), ValueError, "Mb"),
    "negative rtol": (lambda: tr.solve(poisson(4), ONES, rtol=-1.0), ValueError, "rtol"),
    "nan rtol": (lambda: tr.cg(poisson(4), ONES, rtol=np.nan), ValueError, "rtol"),
    "negative atol": (lambda: tr.cg(poisson(4), ONES, atol=-1), ValueError, "atol"),
    "legacy atol": (lambda: tr.gmres(poisson(4), ONES, atol="legacy"), ValueError, "atol"),
    "no maxiter": (lambda: tr.solve(poisson(4), ONES, maxiter=0), ValueError, "maxiter"),
    "fractional maxiter": (lambda: tr.cg(poisson(4), ONES, maxiter=2.5), TypeError, "maxiter"),
    "callback": (lambda: tr.solve(poisson(4), ONES, callback=3), TypeError, "callback"),
    "method": (lambda: tr.solve(poisson(4), ONES, method="cgg"), ValueError, "cgg"),
    "preconditioner": (lambda: tr.cg(poisson(4), ONES, M="ilut"), ValueError, "ilut"),
    "kernel": (lambda: tr.Solver(poisson(4), kernel="crs"), ValueError, "crs"),
    "precision": (lambda: tr.Solver(poisson(4), precision="half"), ValueError, "half"),
    "device": (lambda: tr.Solver(poisson(4), device="tpu"), ValueError, "tpu"),
    "scaling": (lambda: tr.Solver(poisson(4), scaling="big"), ValueError, "big"),
    "no word": (lambda: tr.Solver(poisson(4), method=3), TypeError, "method is 3"),
    "block_size": (lambda: tr.Solver(poisson(4), block_size=5), ValueError, "block"),
    "block_size 0": (lambda: tr.Solver(poisson(4), block_size=0), ValueError, "block_size"),
    "restart": (lambda: tr.Solver(poisson(4), restart=0), ValueError, "restart"),
    "ilu_levels": (lambda: tr.Solver(poisson(4), ilu_levels=9), ValueError, "ilu_levels"),
    "negative ilu_levels": (lambda: tr.Solver(poisson(4), ilu_levels=-1), ValueError, "least 0"),
    "ilu_order": (lambda: tr.Solver(poisson(4), ilu_order="red"), ValueError, "ilu_order"),
    "large block_size": (lambda: tr.Solver(poisson(4), block_size=33), ValueError, "block_size"),
    "no tolerance": (lambda: tr.cg(poisson(4), ONES, rtol=0.0), ValueError, "rtol"),
    "multigrid option": (
        lambda: tr.Solver(poisson(4), multigrid={"cycles": "v"}), ValueError, "cycles"),
    "multigrid type": (
        lambda: tr.Solver(poisson(4), multigrid={"degree": "two"}), TypeError, "degree"),
    "multigrid word": (
        lambda: tr.Solver(poisson(4), preconditioner="multigrid", multigrid={"cycle": "u"}),
        ValueError, "u"),
    "coordinates": (
        lambda: tr.Solver(poisson(4), coordinates=np.ones((5, 3))), ValueError, "coordinates"),
    "near_nullspace": (
        lambda: tr.Solver(poisson(4), near_nullspace=np.ones(5)), ValueError, "near_nullspace"),
    "callback_type": (
        lambda: tr.gmres(poisson(4), ONES, callback=print, callback_type="y"), ValueError, "'y'"),
    "not symmetric": (
        lambda: tr.minres(convection(4), np.ones(4), check=True), ValueError, "symmetric"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name):
    call, kind, words = BAD[name]
    with pytest.raises(kind) as failure:
        call()
    assert words in one_line(failure)


@pytest.mark.skipif(tr.has_gpu(), reason="there is a GPU here")
def test_a_device_that_is_not_there():
    for make in (tr.Solver, tr.aslinearoperator):
        with pytest.raises(tr.DeviceError) as failure:
            make(poisson(4), device="cuda")
        one_line(failure)
    assert issubclass(tr.DeviceError, RuntimeError) and issubclass(tr.InputError, ValueError)


# --- the package ---------------------------------------------------------------------------------


def modules():
    names = [m.name for m in pkgutil.iter_modules(tr.__path__) if not m.name.startswith("_core")]
    return ["trireme", *(f"trireme.{name}" for name in names)]


@pytest.mark.parametrize("name", modules())
def test_examples_of_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_every_public_function_has_an_example():
    for name in tr.__all__:
        thing = getattr(tr, name)
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Warning)):
            missing = ">>>" not in (thing.__doc__ or "")
            assert not missing or name in (
                "DeviceError", "InputError", "MatrixOperator", "Preconditioner"), name


def test_the_version_is_that_of_the_header():
    header = pathlib.Path(__file__).parents[2] / "include" / "trireme" / "version.h"
    assert f'#define TRIREME_VERSION "{tr.__version__}"' in header.read_text()


def test_the_package_is_typed():
    folder = pathlib.Path(tr.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()


def test_the_stub_names_what_the_extension_has():
    stub = (pathlib.Path(tr.__file__).parent / "_core.pyi").read_text()
    core = tr._core
    for name in dir(core):
        if not name.startswith("_"):
            assert f"class {name}" in stub or f"def {name}(" in stub or f"{name}: " in stub
        thing = getattr(core, name)
        if isinstance(thing, type):
            for member in dir(thing):
                assert member.startswith("_") or f" {member}(" in stub or f" {member}: " in stub


def test_examples_of_the_page():
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    text = page.read_text().replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, "python.md", str(page), 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner().run(test).failed == 0
