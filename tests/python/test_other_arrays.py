# SPDX-License-Identifier: BSD-3-Clause
"""Matrices and vectors of torch, JAX and others. Tests of a library that is missing are skipped."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, poisson, relative_residual

import trireme as tr

FUNCTIONS = ("solve", "cg", "bicgstab", "minres", "gmres")


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch")
        self.array_type = self.module.Tensor
        self.float32, self.float64 = self.module.float32, self.module.float64
        self.wide = self.float64

    def vector(self, array):
        return self.module.from_numpy(np.array(array))

    def matrix(self, A):
        parts = (self.vector(p.astype(np.int64)) for p in (A.indptr, A.indices))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # torch: CSR is in beta state
            return self.module.sparse_csr_tensor(*parts, self.vector(A.data), A.shape)

    matrices = {"csr": matrix}


class Jax:
    def __init__(self):
        self.module = pytest.importorskip("jax")
        self.numpy = self.module.numpy
        self.sparse = pytest.importorskip("jax.experimental.sparse")
        self.array_type = self.module.Array
        self.float32, self.float64 = self.numpy.float32, self.numpy.float64
        self.wide = self.float64 if self.module.config.jax_enable_x64 else self.float32

    def vector(self, array):
        return self.numpy.asarray(array)

    def bcoo(self, A, padding=0):
        C = sp.coo_array(A)
        places = np.stack(C.coords if hasattr(C, "coords") else (C.row, C.col), axis=1)
        places = np.vstack([places, np.full((padding, 2), A.shape[0])])
        data = np.append(C.data, np.full(padding, np.nan, C.data.dtype))
        return self.sparse.BCOO((self.vector(data), self.vector(places)), shape=A.shape)

    def bcsr(self, A):
        parts = tuple(self.vector(p) for p in (A.data, A.indices, A.indptr))
        return self.sparse.BCSR(parts, shape=A.shape)

    matrix = bcsr
    matrices = {"bcsr": bcsr, "bcoo": bcoo, "padded bcoo": lambda self, A: self.bcoo(A, 3)}


LIBRARIES = {"torch": Torch, "jax": Jax}
MATRICES = [(name, kind) for name, library in LIBRARIES.items() for kind in library.matrices]


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]()


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


def refused(call, kind=TypeError) -> str:
    with pytest.raises(kind) as failure:
        call()
    text = str(failure.value)
    assert text and "\n" not in text
    return text


# --- matrices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name, kind", MATRICES)
def test_matrices_are_solved(function, name, kind):
    A = poisson(6)
    foreign = LIBRARIES[name].matrices[kind](LIBRARIES[name](), A)
    x, info = getattr(tr, function)(foreign, np.ones(36), rtol=1e-7)
    assert info == 0 and type(x) is np.ndarray and x.dtype == np.float64
    assert relative_residual(A, x, np.ones(36)) <= 1.1e-7


@pytest.mark.parametrize("name, kind", MATRICES)
def test_matrices_are_updated_and_multiplied(name, kind, rng):
    A, b = poisson(5), rng.standard_normal(25)
    make = LIBRARIES[name].matrices[kind]
    library = LIBRARIES[name]()
    solver = tr.Solver(make(library, A))
    solver.update(make(library, 3 * A))
    assert relative_residual(3 * A, solver.solve(b), b) <= 1e-8
    solver.update(library.vector(A.data))
    assert relative_residual(A, solver.solve(b), b) <= 1e-8
    assert "other places" in refused(lambda: solver.update(make(library, poisson(4))), ValueError)
    np.testing.assert_allclose(tr.aslinearoperator(make(library, A)) @ b, A @ b, rtol=1e-6)
    M = tr.multigrid(make(library, A)).aspreconditioner()
    np.testing.assert_allclose(M @ b, tr.multigrid(A).aspreconditioner() @ b, rtol=1e-5)


def test_dense_matrices_are_solved(library):
    A = poisson(4).toarray()
    x, info = tr.solve(library.vector(A), np.ones(16))
    assert info == 0 and relative_residual(A, x, np.ones(16)) <= 1e-8


def test_matrices_are_not_changed_and_not_kept(torch):
    A = Torch().matrix(convection(20))
    before = A.values().clone()
    solver = tr.Solver(A)
    assert torch.equal(A.values(), before)
    A.values().zero_()
    assert relative_residual(convection(20), solver.solve(np.ones(20)), np.ones(20)) <= 1e-8


def test_complex_matrices_are_refused_or_left_to_scipy(library):
    A = sp.csr_array(np.eye(4) * (1 + 1j))
    foreign = library.matrix(A)
    assert "A is complex" in refused(lambda: tr.solve(foreign, np.ones(4)))
    with pytest.warns(RuntimeWarning, match="the system is complex") as heard:
        x, info = tr.gmres(foreign, library.vector(np.ones(4)))
    assert info == 0 and isinstance(x, library.array_type) and heard[0].filename == __file__
    np.testing.assert_allclose(np.asarray(x), np.full(4, 0.5 - 0.5j), rtol=1e-5)


def test_matrices_of_other_layouts_are_refused(torch):
    A = torch.eye(3).to_sparse()
    assert "pass A.to_sparse_csr()" in refused(lambda: tr.solve(A, np.ones(3)))
    assert "two dimensions" in refused(lambda: tr.solve(torch.ones(3), np.ones(3)), ValueError)


def test_batches_of_jax_are_refused(jax):
    sparse = pytest.importorskip("jax.experimental.sparse")
    cube = jax.numpy.ones((2, 2, 2))
    for options in ({"n_batch": 1}, {"n_dense": 1}):
        A = sparse.BCOO.fromdense(cube, **options)
        assert "both must be 0" in refused(lambda: tr.solve(A, np.ones(2)), ValueError)
    assert "two dimensions" in refused(
        lambda: tr.solve(sparse.BCOO.fromdense(cube), np.ones(2)), ValueError
    )


# --- vectors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_of_the_kind_of_b(function, library, rng):
    A, b = poisson(6), rng.standard_normal(36).astype(np.float32).astype(float)
    start = library.vector(np.full(36, 0.5))
    for given in (A, library.matrix(A)):
        x, info = getattr(tr, function)(given, library.vector(b), start, rtol=1e-6)
        assert info == 0 and isinstance(x, library.array_type) and x.dtype == library.wide
        assert relative_residual(A, np.asarray(x, float), b) <= 2e-6
    assert type(getattr(tr, function)(A, b, start)[0]) is np.ndarray
    assert isinstance(getattr(tr, function)(A, library.vector(b), b)[0], library.array_type)
    np.testing.assert_array_equal(np.asarray(start), 0.5)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_zero_has_the_kind_of_b(function, library):
    x, info = getattr(tr, function)(poisson(3), library.vector(np.zeros(9)))
    assert info == 0 and isinstance(x, library.array_type) and not np.any(np.asarray(x))


def test_many_right_hand_sides(library, rng):
    A, B = poisson(5), rng.standard_normal((25, 3)).astype(np.float32)
    for given in (library.vector(B), library.vector(np.ascontiguousarray(B.T)).T):
        X, info = tr.solve(A, given)
        assert isinstance(X, library.array_type) and tuple(X.shape) == (25, 3)
        np.testing.assert_allclose(A @ np.asarray(X, float), B, atol=1e-5)
        assert info.tolist() == [0, 0, 0]


def test_float32_gives_float32(library):
    A = library.matrix(poisson(5).astype(np.float32))
    x, info = tr.solve(A, library.vector(np.ones(25, np.float32)))
    assert info == 0 and x.dtype == library.float32


def test_short_floats(library):
    makes = library.numpy if hasattr(library, "numpy") else library.module
    b = makes.ones(9, dtype=makes.bfloat16)
    x, info = tr.solve(poisson(3), b)
    assert info == 0 and isinstance(x, library.array_type) and x.dtype == library.wide


def test_failures_have_x_in_the_kind_of_b(library):
    with pytest.raises(tr.NotConverged) as failure:
        tr.solve(poisson(8), library.vector(np.ones(64)), method="cg", preconditioner="none",
                 scaling="none", maxiter=2, raise_on_failure=True)
    assert isinstance(failure.value.x, library.array_type)


def test_operators_give_the_kind_of_the_vector(library, rng):
    A = poisson(5)
    op = tr.aslinearoperator(A)
    M = tr.Solver(A, preconditioner="jacobi").aspreconditioner()
    X = rng.standard_normal((25, 3))
    x = library.vector(X[:, 0].copy())
    for call in (op.matvec, op.rmatvec, op.dot, M.matvec, lambda v: op @ v):
        y = call(x)
        assert isinstance(y, library.array_type) and tuple(y.shape) == (25,)
    np.testing.assert_allclose(np.asarray(op @ x), A @ X[:, 0], rtol=1e-5, atol=1e-5)
    Y = op @ library.vector(X)
    assert isinstance(Y, library.array_type)
    np.testing.assert_allclose(np.asarray(Y), A @ X, rtol=1e-5, atol=1e-5)
    assert type(op @ X) is np.ndarray


def test_what_multigrid_is_told(library):
    A = sp.csr_array(sp.kron(poisson(5), np.eye(2)))
    places = np.array([(i, j) for i in range(5) for j in range(5)], float)
    for options in ({"coordinates": places}, {"near_nullspace": np.ones((50, 2))}):
        [(name, array)] = options.items()
        solver = tr.multigrid(A, **{name: library.vector(array)})
        assert relative_residual(A, solver.solve(np.ones(50)), np.ones(50)) <= 1e-8


def test_sparse_vectors_are_refused(library):
    b = library.matrix(sp.csr_array(np.ones((9, 1))))
    assert "b is sparse" in refused(lambda: tr.solve(poisson(3), b))


def test_tensors_that_require_grad_are_refused(torch):
    b = torch.ones(9, dtype=torch.float64, requires_grad=True)
    calls = {
        "b": [lambda f=f: getattr(tr, f)(poisson(3), b) for f in FUNCTIONS],
        "x0": [lambda f=f: getattr(tr, f)(poisson(3), np.ones(9), b) for f in FUNCTIONS],
        "x": [lambda: tr.aslinearoperator(poisson(3)) @ b],
        "values": [lambda: tr.Solver(np.eye(9)).update(b)],
        "A": [lambda: tr.solve(b.reshape(3, 3), np.ones(3))],
    }
    for name, group in calls.items():
        for call in group:
            text = refused(call)
            assert text.startswith(f"{name} requires grad") and f"{name}.detach()" in text
    assert tr.solve(poisson(3), b.detach())[1] == 0


def test_the_derivative_that_the_page_shows(torch):
    page = (pathlib.Path(__file__).parents[2] / "docs" / "python.md").read_text()
    [text] = re.findall(r"```py\n(import torch\n.*?)```", page, re.DOTALL)
    space = {}
    exec(text, space)
    A = convection(6)
    solve = space["linear_solve"](tr.Solver(A), tr.Solver(sp.csr_array(A.T)))
    b = torch.rand(6, dtype=torch.float64, requires_grad=True)
    torch.sum(solve(b) ** 2).backward()
    dense = torch.from_numpy(A.toarray())
    expected = b.detach().clone().requires_grad_(True)
    torch.sum(torch.linalg.solve(dense, expected) ** 2).backward()
    np.testing.assert_allclose(b.grad.numpy(), expected.grad.numpy(), rtol=1e-6)


def test_traced_arrays_are_refused(jax):
    b = jax.numpy.ones(9)
    for transform in (jax.jit, jax.grad):
        call = transform(lambda v: tr.solve(poisson(3), v)[0].sum())
        assert "b is traced by JAX" in refused(lambda: call(b))


def test_float64_of_jax_with_x64():
    pytest.importorskip("jax")
    program = f"""
import sys; sys.path.insert(0, {str(pathlib.Path(tr.__file__).parents[1])!r})
import jax; jax.config.update("jax_enable_x64", True)
import numpy, trireme
x, info = trireme.solve(numpy.diag([2.0, 3.0]), jax.numpy.ones(2), rtol=1e-14)
assert x.dtype == jax.numpy.float64 and abs(float(x[1]) - 1 / 3) < 1e-14
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


# --- any library ---------------------------------------------------------------------------------


class OnlyDlpack:
    """An array that has nothing but DLPack, on a device of one's choice."""

    def __init__(self, array, device=(1, 0)):
        self._array, self._device = array, device

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)


class OnlyArray:
    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


class OnCuda:
    __cuda_array_interface__ = {"shape": (9,), "typestr": "<f8", "data": (0, False), "version": 3}


class OfCupy:  # its name is given below
    """What the package uses of an array of CuPy, on the host."""

    __module__ = "cupy"
    dtype = np.dtype(np.float64)

    class Device:
        id = 2

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    device = Device()

    def __init__(self, array):
        self.array = np.array(array)
        self.data = type("Pointer", (), {"device": self.device})()

    def get(self):
        return self.array.copy()


OfCupy.__name__ = "ndarray"


@pytest.mark.parametrize("function", FUNCTIONS[1:])  # solve takes no M
def test_operators_of_cupy_are_left_to_cupyx(function, monkeypatch):
    module, calls = type(sys)("cupyx.scipy.sparse.linalg"), []
    setattr(module, function, lambda A, b, x0, **options: calls.append((A, b, x0, options)))
    monkeypatch.setitem(sys.modules, "cupyx.scipy.sparse.linalg", module)
    for package in ("cupyx", "cupyx.scipy", "cupyx.scipy.sparse"):
        monkeypatch.setitem(sys.modules, package, type(sys)(package))
    A, b, M = OfCupy(np.eye(3)), OfCupy(np.ones(3)), object()
    with pytest.warns(RuntimeWarning, match=rf"^trireme.{function}: M is a object.*: cupyx"):
        getattr(tr, function)(A, b, M=M, rtol=1e-3)
    assert calls == [(A, b, None, {"M": M, "rtol": 1e-3})]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arrays_of_cupy_go_through_the_host_of_a_solver_on_the_cpu(function, monkeypatch):
    module = type(sys)("cupy")
    module.asarray = OfCupy
    monkeypatch.setitem(sys.modules, "cupy", module)
    A, b = poisson(5), np.linspace(1, 2, 25)
    sparse = OfCupy(A.data)
    sparse.get = lambda: A
    x, info = getattr(tr, function)(sparse, OfCupy(b), OfCupy(np.zeros(25)), rtol=1e-9)
    assert info == 0 and type(x) is OfCupy
    assert relative_residual(A, x.array, b) <= 1e-9
    seen = []
    x, info = tr.cg(sparse, OfCupy(b), rtol=1e-9, callback=seen.append)
    assert {type(xk) for xk in seen} == {OfCupy}
    assert relative_residual(A, seen[-1].array, b) <= 1e-9
    y = tr.aslinearoperator(sparse, device="cpu") @ OfCupy(b)
    np.testing.assert_allclose(y.array, A @ b, atol=1e-14)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", [OnlyDlpack, OnlyArray])
def test_vectors_of_any_library(function, kind):
    x, info = getattr(tr, function)(poisson(3), kind(np.ones(9)), kind(np.zeros(9)), rtol=1e-8)
    assert info == 0 and type(x) is np.ndarray
    assert relative_residual(poisson(3), x, np.ones(9)) <= 1e-8


def test_updates_of_any_library():
    solver = tr.Solver(np.eye(3))
    for kind in (OnlyDlpack, OnlyArray):
        solver.update(kind(np.full(3, 4.0)))
        np.testing.assert_allclose(solver.solve(np.ones(3)), 0.25)


ON_DEVICES = {
    "cuda:1": lambda: OnlyDlpack(np.ones(9), (2, 1)),
    "rocm:0": lambda: OnlyDlpack(np.ones(9), (10, 0)),
    "DLPack device 99:0": lambda: OnlyDlpack(np.ones(9), (99, 0)),
    "cuda": OnCuda,
    "meta": lambda: pytest.importorskip("torch").ones(9, device="meta"),
}


@pytest.mark.parametrize("device", ON_DEVICES)
def test_arrays_on_a_device_are_refused(device):
    array, A, b = ON_DEVICES[device](), poisson(3), np.ones(9)
    calls = {
        "A": [lambda: tr.Solver(array), lambda: tr.aslinearoperator(array),
              lambda: tr.multigrid(array)]
        + [lambda f=f: getattr(tr, f)(array, b) for f in FUNCTIONS],
        "b": [lambda f=f: getattr(tr, f)(A, array) for f in FUNCTIONS],
        "x0": [lambda f=f: getattr(tr, f)(A, b, array) for f in FUNCTIONS],
        "values": [lambda: tr.Solver(A).update(array)],
        "x": [lambda: tr.aslinearoperator(A) @ array],
    }
    for name, group in calls.items():
        for call in group:
            text = f"{name} is on {device}: pass an array of the host, of CuPy, of torch or of JAX"
            assert refused(call) == text


def test_no_library_is_imported():
    program = f"""
import sys; sys.path.insert(0, {str(pathlib.Path(tr.__file__).parents[1])!r})
import numpy, trireme
for function in (trireme.solve, trireme.cg):
    assert function(numpy.eye(4), [1.0] * 4)[1] == 0
assert not {{"torch", "jax", "jaxlib", "cupy"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
