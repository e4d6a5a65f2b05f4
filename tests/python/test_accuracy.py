# SPDX-License-Identifier: BSD-3-Clause
"""That what is called converged is: ||b - A x|| is computed by scipy, and compared with rtol."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, norm, poisson, relative_residual

import trireme as tr

ROUNDING = 1.02  # of the residual: what the solver lets pass beyond rtol


def graph_laplacian(rng, n):
    edges = sp.random_array((n, n), density=4 / n, rng=rng, format="csr")
    weights = edges + edges.T
    return sp.csr_array(sp.diags_array(weights.sum(axis=1) + 0.1) - weights)


def dominant(rng, n):
    A = sp.random_array((n, n), density=5 / n, rng=rng, data_sampler=rng.standard_normal)
    return sp.csr_array(A + sp.diags_array(abs(A).sum(axis=1) + 1.0))


def indefinite(rng, n):
    A = sp.random_array((n, n), density=3 / n, rng=rng)
    signs = sp.diags_array(np.where(np.arange(n) % 3, 8.0, -8.0))
    return sp.csr_array(A + A.T + signs)


def elasticity_like(rng, n):
    block = rng.standard_normal((3, 3))
    return sp.csr_array(sp.kron(poisson(n // 8, 1), block @ block.T + np.eye(3)))


SYMMETRIC = {"poisson2d": lambda rng, n: poisson(15), "poisson3d": lambda rng, n: poisson(6, 3),
             "graph": graph_laplacian, "blocks": elasticity_like}
OTHER = {"convection": lambda rng, n: convection(n), "dominant": dominant}
FAMILIES = {**SYMMETRIC, **OTHER, "indefinite": indefinite}
FOR_ALL = ("solve", "gmres", "bicgstab")
FITTING = [
    *((name, family) for name in FOR_ALL for family in {**SYMMETRIC, **OTHER}),
    *((name, family) for name in ("cg", "minres") for family in SYMMETRIC),
    ("solve", "indefinite"),
    ("minres", "indefinite"),
]


@pytest.mark.parametrize("rtol", [1e-3, 1e-8, 1e-11])
@pytest.mark.parametrize("name, family", FITTING)
def test_converged_is_true_of_the_residual(name, family, rtol, rng):
    A = FAMILIES[family](rng, 200)
    b = rng.standard_normal(A.shape[0])
    x, info = getattr(tr, name)(A, b, rtol=rtol)
    assert info == 0
    assert relative_residual(A, x, b) <= rtol * ROUNDING


@pytest.mark.parametrize("name", ["cg", "minres", "bicgstab", "gmres"])
@pytest.mark.parametrize("M", ["auto", *tr.preconditioners()])
def test_words_for_preconditioners(name, M, rng):
    A = poisson(12)
    b = rng.standard_normal(144)
    if M in ("chebyshev", "fsai", "icc") and name in ("bicgstab", "gmres"):
        with pytest.raises(ValueError, match="symmetric"):
            getattr(tr, name)(A, b, M=M)
        return
    if M == "spai" and name in ("cg", "minres"):
        with pytest.raises(ValueError, match="not symmetric"):
            getattr(tr, name)(A, b, M=M)
        return
    guesses = [None, rng.standard_normal(144)]
    if M in ("auto", "none", "jacobi", "multigrid", "fsai", "spai", "ilu", "icc"):
        guesses.append("Mb")
    for x0 in guesses:
        x, info = getattr(tr, name)(A, b, x0, rtol=1e-8, M=M)
        assert info == 0 and relative_residual(A, x, b) <= 1e-8 * ROUNDING


@pytest.mark.parametrize("name", ["solve", "cg", "bicgstab", "gmres"])
def test_atol_is_absolute(name, rng):
    A = poisson(8)
    b = 1e3 * rng.standard_normal(64)
    for rtol, atol in [(0.0, 1e-3), (1e-12, 1.0), (1e-2, 1e-3), (0.0, 1e9), (1.0, 0.0), (2.0, 0.0)]:
        x, info = getattr(tr, name)(A, b, rtol=rtol, atol=atol)
        assert info == 0
        assert norm(b - A @ x) <= max(rtol * norm(b), atol) * ROUNDING


@pytest.mark.parametrize("name", ["cg", "bicgstab", "gmres"])
@pytest.mark.parametrize("tolerance", [dict(rtol=np.inf), dict(atol=np.inf), dict(rtol=5.0)])
def test_wide_tolerances_keep_a_guess_that_serves(name, tolerance):
    A, b = poisson(4), np.ones(16)
    x, info = getattr(tr, name)(A, b, np.full(16, 0.25), **tolerance)
    assert info == 0
    np.testing.assert_array_equal(x, 0.25)
    x, info = getattr(tr, name)(A, b, np.full(16, 1e9), rtol=5.0)
    assert info == 0 and norm(b - A @ x) <= 5.0 * norm(b)


@pytest.mark.parametrize("name", ["solve", "cg", "minres", "bicgstab", "gmres"])
def test_a_zero_b_has_the_zero_solution(name):
    for x0 in (None, np.ones(16)):
        x, info = getattr(tr, name)(poisson(4), np.zeros(16), x0)
        assert info == 0
        np.testing.assert_array_equal(x, 0.0)


SCALES = [1e-300, 1e-150, 1e-20, 1.0, 1e20, 1e150, 1e300]


@pytest.mark.parametrize("name", ["solve", "cg", "minres", "bicgstab", "gmres"])
@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_of_b(name, scale, rng):
    A = poisson(6)
    b = scale * rng.uniform(0.5, 1.0, 36)
    x, info = getattr(tr, name)(A, b, rtol=1e-8)
    assert info == 0 and np.all(np.isfinite(x))
    assert relative_residual(A, x, b) <= 1e-8 * ROUNDING


@pytest.mark.parametrize("name", ["solve", "cg", "minres", "bicgstab", "gmres"])
@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_of_the_matrix(name, scale, rng):
    """b is scaled with A, so that x is of the size of 1."""
    A = poisson(6)
    b = rng.uniform(0.5, 1.0, 36)
    x, info = getattr(tr, name)(scale * A, scale * b, rtol=1e-8)
    assert info == 0 and np.all(np.isfinite(x))
    assert relative_residual(A, x, b) <= 1e-8 * ROUNDING


@pytest.mark.parametrize("name", ["cg", "bicgstab", "gmres", "minres"])
def test_info_counts_what_was_done(name, rng):
    A = poisson(20)
    b = rng.standard_normal(400)
    options = {"restart": 5} if name == "gmres" else {}
    x, info = getattr(tr, name)(A, b, rtol=1e-14, maxiter=3, **options)
    assert info == 3
    assert 1e-14 < relative_residual(A, x, b) < 1.5


def test_breakdowns_are_no_success():
    singular = np.array([[1.0, 0.0], [0.0, 0.0]])
    for name in ("cg", "bicgstab", "minres", "gmres"):
        x, info = getattr(tr, name)(singular, np.array([1.0, 1.0]))
        assert info != 0 and np.all(np.isfinite(x))
    indefinite_matrix = np.diag([1.0, -1.0, 2.0])
    assert tr.cg(indefinite_matrix, np.ones(3), maxiter=2)[1] != 0
    with pytest.warns(tr.ConvergenceWarning):
        assert tr.solve(singular, np.ones(2))[1] != 0


def test_problems_of_pyamg(rng):
    gallery = pytest.importorskip("pyamg.gallery")
    line = np.arange(12.0)
    places = np.column_stack([c.ravel() for c in np.meshgrid(line, line)])
    A, modes = gallery.linear_elasticity((12, 12))
    b = rng.standard_normal(A.shape[0])
    for options in ({"near_nullspace": modes}, {"coordinates": places}, {}):
        solver = tr.Solver(A, "cg", "multigrid", **options)
        assert relative_residual(A, solver.solve(b), b) <= 1e-8 * ROUNDING
        assert solver.report["levels"][0]["rows"] == A.shape[0]
    anisotropic = np.array([[0, -1, 0], [-9, 20, -9], [0, -1, 0]])
    for A in (gallery.poisson((30, 30)), gallery.stencil_grid(anisotropic, (20, 20))):
        b = rng.standard_normal(A.shape[0])
        x, info = tr.solve(A, b)
        assert info == 0 and relative_residual(A, x, b) <= 1e-8 * ROUNDING


def test_minres_shift(rng):
    A = poisson(8)
    b = rng.standard_normal(64)
    x, info = tr.minres(A, b, shift=0.7, rtol=1e-9)
    assert info == 0
    assert relative_residual(A - 0.7 * sp.eye_array(64), x, b) <= 1e-9 * ROUNDING
    single, info = tr.minres(A.astype(np.float32), b.astype(np.float32), shift=0.5)
    assert single.dtype == np.float32 and info == 0


def test_minres_show_prints_each_iteration(capsys):
    x, info = tr.minres(poisson(4), np.ones(16), show=True)
    lines = capsys.readouterr().out.splitlines()
    assert info == 0 and lines[0].startswith("minres: n = 16") and len(lines) > 3


def test_gmres_callbacks():
    A, b = poisson(10), np.arange(100.0)
    norms, cycles = [], []
    x, info = tr.gmres(A, b, restart=7, callback=norms.append, callback_type="pr_norm")
    assert info == 0 and norms[-1] <= 1e-5 and isinstance(norms[0], float)
    y, info = tr.gmres(A, b, restart=7, callback=cycles.append, callback_type="x")
    assert info == 0 and len(cycles) == -(-len(norms) // 7)
    np.testing.assert_array_equal(cycles[-1], y)
    with pytest.warns(DeprecationWarning, match="called without specifying `callback_type`"):
        x, info = tr.gmres(A, b, restart=7, maxiter=4, callback=norms.append)
    assert info == 4


def test_what_scipy_must_solve_is_told_and_solved(rng):
    import scipy.sparse.linalg as spla

    A = poisson(6)
    b = rng.standard_normal(36)
    inverse = spla.splu(sp.csc_array(A))
    M = spla.LinearOperator((36, 36), inverse.solve)
    for name in ("cg", "bicgstab", "minres", "gmres"):
        for call in (lambda f: f(A, b, M=M), lambda f: f(spla.aslinearoperator(A), b)):
            with pytest.warns(RuntimeWarning, match=f"scipy.sparse.linalg.{name} solves") as heard:
                x, info = call(getattr(tr, name))
            assert info == 0 and relative_residual(A, x, b) <= 1e-4
            assert heard[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="complex"):
        x, info = tr.gmres(A.astype(complex), b)
    assert info == 0 and x.dtype == np.complex128


def test_the_scipy_functions_are_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("cg", "bicgstab", "minres", "gmres"):
            tr_function = getattr(tr, name)
            assert tr_function(poisson(5), np.ones(25))[1] == 0
            assert tr_function(poisson(20), np.arange(400.0), rtol=1e-15, maxiter=1)[1] != 0
