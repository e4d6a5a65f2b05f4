# SPDX-License-Identifier: BSD-3-Clause
"""Arrays on a GPU. Without one, or without CuPy or torch, these tests skip."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
import trireme as tr

pytestmark = pytest.mark.skipif(not tr.has_gpu(), reason="no GPU")


def poisson(n, dimensions=2):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    A = line
    for _ in range(dimensions - 1):
        A = sp.kron(A, sp.eye_array(n)) + sp.kron(sp.eye_array(A.shape[0]), line)
    A = A.tocsr()
    A.sort_indices()
    return A


class Cupy:
    def __init__(self):
        self.module = pytest.importorskip("cupy")

    def array(self, x):
        return self.module.asarray(x)

    def numpy(self, x):
        assert isinstance(x, self.module.ndarray)
        return x.get()

    def sparse(self, A):
        import cupyx.scipy.sparse
        return cupyx.scipy.sparse.csr_matrix(A)


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch")

    def array(self, x):
        return self.module.tensor(np.array(x), device="cuda")

    def numpy(self, x):
        assert isinstance(x, self.module.Tensor) and x.device.type == "cuda"
        return x.cpu().numpy()

    def sparse(self, A):
        t = self.module
        return t.sparse_csr_tensor(t.tensor(A.indptr), t.tensor(A.indices), t.tensor(A.data),
                                   size=A.shape).to("cuda")


@pytest.fixture(params=[Cupy, Torch])
def lib(request):
    return request.param()


def residual(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)


def test_a_vector_is_solved_where_it_is(lib):
    A, b = poisson(60), np.random.default_rng(1).normal(size=3600)
    solver = tr.Solver(A, device="cuda")
    there = lib.array(b)
    x = solver.solve(there, rtol=1e-10)
    assert solver.info == 0 and solver.report["device"] == "cuda"
    assert residual(A, lib.numpy(x), b) <= 1e-10
    np.testing.assert_array_equal(lib.numpy(there), b)
    again = solver.solve(there, x0=x, rtol=1e-9)
    assert solver.report["last_solve"]["iterations"] == 0
    np.testing.assert_array_equal(lib.numpy(again), lib.numpy(x))


def test_the_gpu_gives_what_host_arrays_give(lib):
    A, b = poisson(50), np.random.default_rng(2).normal(size=2500)
    solver = tr.Solver(A, method="cg", preconditioner="jacobi", device="cuda")
    on_host = solver.solve(b)
    np.testing.assert_array_equal(lib.numpy(solver.solve(lib.array(b))), on_host)
    assert residual(A, on_host, b) <= 1e-8


@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_of_right_hand_sides(lib, order):
    A = poisson(40)
    B = np.asarray(np.random.default_rng(3).normal(size=(1600, 5)), order=order)
    solver = tr.Solver(A, device="cuda", method="cg")
    X = solver.solve(lib.array(B), rtol=1e-9)
    assert np.all(solver.info == 0) and tuple(X.shape) == (1600, 5)
    on_host = lib.numpy(X)
    for k in range(5):
        assert residual(A, on_host[:, k], B[:, k]) <= 1e-9
    X = solver.solve(lib.array(B), x0=X, rtol=1e-8)
    assert [r["iterations"] for r in solver.report["vectors"]] == [0] * 5
    np.testing.assert_array_equal(lib.numpy(X), on_host)
    assert tuple(solver.solve(lib.array(B[:, :1])).shape) == (1600, 1)
    assert tuple(solver.solve(lib.array(B[:, :0])).shape) == (1600, 0)


def test_other_numbers_and_strides(lib):
    A = poisson(30)
    wide = np.random.default_rng(4).normal(size=1800)
    solver = tr.Solver(A, device="cuda")
    x = lib.numpy(solver.solve(lib.array(wide)[::2]))
    assert residual(A, x, wide[::2]) <= 1e-8
    x = lib.numpy(solver.solve(lib.array(np.arange(900))))
    assert x.dtype == np.float64 and residual(A, x, np.arange(900)) <= 1e-8
    single = tr.Solver(A.astype(np.float32), device="cuda")
    x = lib.numpy(single.solve(lib.array(wide[:900].astype(np.float32))))
    assert x.dtype == np.float32 and residual(A, x.astype(float), wide[:900]) <= 1e-5


def test_matrices_on_the_gpu(lib):
    A, b = poisson(40), np.ones(1600)
    solver = tr.Solver(lib.sparse(A))
    assert solver.report["device"] == "cuda"
    x = solver.solve(lib.array(b))
    assert residual(A, lib.numpy(x), b) <= 1e-8
    solver.update(lib.array(2 * A.data))
    np.testing.assert_allclose(2 * lib.numpy(solver.solve(lib.array(b), rtol=1e-12)),
                               lib.numpy(x), rtol=1e-6)


@pytest.mark.parametrize("function", [tr.cg, tr.bicgstab, tr.minres, tr.gmres, tr.solve])
def test_functions_of_scipy(lib, function):
    A, b = poisson(30), np.random.default_rng(5).normal(size=900)
    x, info = function(lib.sparse(A), lib.array(b), rtol=1e-8)
    assert info == 0 and residual(A, lib.numpy(x), b) <= 1e-7


def test_callbacks_and_operators_of_cupy():
    cupy = pytest.importorskip("cupy")
    A, b = poisson(20), cupy.ones(400)
    norms = []
    of_cupy = Cupy().sparse(A)
    x, info = tr.cg(of_cupy, b, callback=lambda xk: norms.append(float(cupy.linalg.norm(b - of_cupy @ xk))))
    assert info == 0 and norms[-1] <= 1.02e-5 * float(cupy.linalg.norm(b))
    import cupyx.scipy.sparse.linalg as linalg
    M = linalg.LinearOperator(A.shape, matvec=lambda v: v / 4, dtype=np.float64)
    with pytest.warns(RuntimeWarning, match="cupyx.scipy.sparse.linalg.cg solves"):
        x, info = tr.cg(of_cupy, b, M=M)
    assert info == 0 and residual(A, x.get(), b.get()) <= 1.1e-5


def test_operators(lib):
    A, x = poisson(40), np.random.default_rng(6).normal(size=1600)
    op = tr.aslinearoperator(A, device="cuda")
    np.testing.assert_allclose(lib.numpy(op @ lib.array(x)), A @ x, atol=1e-12)
    np.testing.assert_allclose(lib.numpy(op.matvec(lib.array(x))), A @ x, atol=1e-12)
    np.testing.assert_allclose(lib.numpy(op.rmatvec(lib.array(x))), A.T @ x, atol=1e-12)
    X = np.stack([x, 2 * x], axis=1)
    np.testing.assert_allclose(lib.numpy(op.matmat(lib.array(X))), A @ X, atol=1e-12)
    M = tr.multigrid(A, device="cuda").aspreconditioner()
    z = lib.numpy(M.matvec(lib.array(x)))
    np.testing.assert_allclose(z, M.matvec(x), rtol=1e-10, atol=1e-12)
    assert np.linalg.norm(x - A @ z) < 0.6 * np.linalg.norm(x)
    jacobi = tr.Solver(A, preconditioner="jacobi", device="cuda").aspreconditioner()
    np.testing.assert_allclose(lib.numpy(jacobi.matvec(lib.array(x))), x / 4)


def test_cupyx_takes_the_preconditioner():
    cupy = pytest.importorskip("cupy")
    import cupyx.scipy.sparse
    import cupyx.scipy.sparse.linalg as linalg
    A, b = poisson(100), np.ones(10000)
    M = tr.multigrid(A, device="cuda").aspreconditioner()
    steps = []
    of_cupy = linalg.LinearOperator(A.shape, matvec=M.matvec, dtype=np.float64)
    x, info = linalg.cg(cupyx.scipy.sparse.csr_matrix(A), cupy.asarray(b), rtol=1e-8, M=of_cupy,
                        callback=steps.append)
    assert info == 0 and len(steps) < 30
    assert residual(A, x.get(), b) <= 2e-8


SCALES = [(of_a, of_b) for of_a in (1.0, 1e-250, 1e250, -1.0) for of_b in (1.0, 1e-150, 1e200)
          if 1e-300 < abs(of_b / of_a) < 1e300]  # x is in the range of double


@pytest.mark.parametrize(("of_a", "of_b"), SCALES)
def test_any_scale(lib, of_a, of_b):
    A = poisson(20)
    b = np.random.default_rng(7).normal(size=400)
    solver = tr.Solver(of_a * A, device="cuda")
    x = lib.numpy(solver.solve(lib.array(of_b * b)))
    assert solver.info == 0
    assert residual(A, x * of_a / of_b, b) <= 1.1e-8
    again = solver.solve(lib.array(of_b * b), x0=lib.array(x))
    assert solver.report["last_solve"]["iterations"] <= 1
    assert residual(A, lib.numpy(again) * of_a / of_b, b) <= 1.1e-8


def test_rows_of_different_sizes(lib):
    A = poisson(30)
    sizes = 10.0 ** np.random.default_rng(8).uniform(-4, 4, size=900)
    scaled = sp.diags_array(sizes) @ A
    b = scaled @ np.random.default_rng(9).normal(size=900)
    solver = tr.Solver(scaled.tocsr(), device="cuda")
    x = lib.numpy(solver.solve(lib.array(b), rtol=1e-9))
    assert solver.info == 0
    assert residual(A, x, b / sizes) <= 1e-6


def test_new_values_change_the_sizes_of_rows(lib):
    A = poisson(30)
    b = np.random.default_rng(15).normal(size=900)
    solver = tr.Solver(A, device="cuda")
    for spread in (0, 4, 1, 5):
        sizes = 10.0 ** np.random.default_rng(16).uniform(-spread, spread, size=900)
        scaled = (sp.diags_array(sizes) @ A).tocsr()
        scaled.sort_indices()
        solver.update(scaled)
        x = lib.numpy(solver.solve(lib.array(sizes * b), rtol=1e-9))
        told = solver.report["last_solve"]["relative_residual"]
        assert solver.info == 0 and residual(A, x, b) <= 1e-6
        assert residual(scaled, x, sizes * b) == pytest.approx(told, rel=1e-3)


def test_sizes_of_rows_whose_squares_overflow(lib):
    A = poisson(20)
    sizes = np.where(np.arange(400) % 7 == 3, 1e-75, 1e-145)
    b = np.random.default_rng(17).normal(size=400)
    solver = tr.Solver((sp.diags_array(sizes) @ A).tocsr(), device="cuda")
    x = lib.numpy(solver.solve(lib.array(sizes * b)))
    assert solver.info == 0 and residual(A, x, b) <= 1e-6


def test_a_scaling_goes_through_the_host(lib):
    A = poisson(30)
    scale = sp.diags_array(2.0 ** np.random.default_rng(10).integers(-8, 8, size=900))
    b = np.random.default_rng(11).normal(size=900)
    solver = tr.Solver((scale @ A @ scale).tocsr(), method="cg", scaling="diagonal", device="cuda")
    x = lib.numpy(solver.solve(lib.array(b), rtol=1e-10))
    assert solver.info == 0 and residual(scale @ A @ scale, x, b) <= 1e-10


def test_what_does_not_converge(lib):
    A, b = poisson(60), np.random.default_rng(12).normal(size=3600)
    solver = tr.Solver(A, method="cg", preconditioner="none", device="cuda")
    with pytest.warns(tr.ConvergenceWarning):
        x = solver.solve(lib.array(b), maxiter=5)
    assert solver.info == 5
    told = solver.report["last_solve"]["relative_residual"]
    assert residual(A, lib.numpy(x), b) == pytest.approx(told, rel=1e-6)
    singular = sp.diags_array([1.0, 0.0, 2.0]).tocsr()
    with pytest.warns(tr.ConvergenceWarning):
        tr.Solver(singular, device="cuda").solve(lib.array(np.ones(3)))


def test_zero_and_nothing(lib):
    solver = tr.Solver(poisson(5), device="cuda")
    np.testing.assert_array_equal(lib.numpy(solver.solve(lib.array(np.zeros(25)))), np.zeros(25))
    assert lib.numpy(tr.Solver(sp.csr_array((0, 0)), device="cuda").solve(
        lib.array(np.zeros(0)))).shape == (0,)


def test_the_streams_of_the_caller():
    cupy = pytest.importorskip("cupy")
    A = poisson(50)
    solver = tr.Solver(A, method="cg", device="cuda")
    op = tr.aslinearoperator(A, device="cuda")
    expected = solver.solve(np.full(2500, 3.0))
    busy = cupy.random.rand(3000, 3000)
    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null):
        with stream:
            b = cupy.zeros(2500)
            for _ in range(20):
                busy = busy @ busy / 1e3
            b += 3.0  # after the products, some milliseconds later
            x = solver.solve(b)
            y = op @ b
            z = y * 2.0
        np.testing.assert_array_equal(x.get(), expected)
        np.testing.assert_allclose(z.get(), 2 * (A @ np.full(2500, 3.0)), atol=1e-12)


def test_the_streams_of_torch():
    torch = pytest.importorskip("torch")
    A = poisson(50)
    solver = tr.Solver(A, method="cg", device="cuda")
    expected = solver.solve(np.full(2500, 3.0))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy = torch.rand(3000, 3000, device="cuda", dtype=torch.float64)
        b = torch.zeros(2500, device="cuda", dtype=torch.float64)
        for _ in range(20):
            busy = busy @ busy / 1e3
        b += 3.0
        x = solver.solve(b)
    np.testing.assert_array_equal(x.cpu().numpy(), expected)


def test_a_solver_on_the_cpu_takes_and_gives_arrays_of_the_gpu(lib):
    A, b = poisson(30), np.random.default_rng(13).normal(size=900)
    solver = tr.Solver(A, device="cpu")
    x = solver.solve(lib.array(b))
    assert residual(A, lib.numpy(x), b) <= 1e-8
    op = tr.aslinearoperator(A, device="cpu")
    np.testing.assert_allclose(lib.numpy(op @ lib.array(b)), A @ b, atol=1e-12)


def test_bad_input(lib):
    solver = tr.Solver(poisson(10), device="cuda")
    b = np.ones(100)
    b[17] = np.nan
    with pytest.raises(tr.InputError, match=r"^b\[17\] = nan; numbers must be finite$"):
        solver.solve(lib.array(b))
    b[17] = 1
    x0 = b.copy()
    x0[3] = np.inf
    with pytest.raises(tr.InputError, match=r"^x\[3\] = inf; numbers must be finite$"):
        solver.solve(lib.array(b), x0=lib.array(x0))
    with pytest.raises(ValueError, match=r"b has the shape \(99,\): A has 100 rows"):
        solver.solve(lib.array(np.ones(99)))
    with pytest.raises(TypeError, match="x0 is a ndarray: it must be on the GPU"):
        solver.solve(lib.array(b), x0=x0)
    with pytest.raises(TypeError, match="real systems only"):
        solver.solve(lib.array(np.ones(100) * 1j))
    with pytest.raises(tr.DeviceError, match="there is no GPU 77"):
        tr.Solver(poisson(3), device="cuda:77")
    with pytest.raises(ValueError, match="device cannot be 'cuda:x'"):
        tr.Solver(poisson(3), device="cuda:x")


def test_tensors_with_grad_are_refused():
    torch = pytest.importorskip("torch")
    b = torch.ones(100, device="cuda", dtype=torch.float64, requires_grad=True)
    with pytest.raises(TypeError, match="requires grad"):
        tr.Solver(poisson(10), device="cuda").solve(b)


def test_too_little_memory():
    cupy = pytest.importorskip("cupy")
    A = poisson(1000)
    free, _ = cupy.cuda.runtime.memGetInfo()
    taken = cupy.cuda.alloc(free - (24 << 20))
    try:
        with pytest.raises(MemoryError, match="memory"):
            tr.Solver(A, device="cuda").solve(np.ones(1000000))
    finally:
        del taken
        cupy.get_default_memory_pool().free_all_blocks()
    solver = tr.Solver(A, device="cuda")
    solver.solve(np.ones(1000000), rtol=1e-3)
    assert solver.info == 0


def test_threads_with_solvers_of_their_own(lib):
    A, b = poisson(40), np.random.default_rng(14).normal(size=1600)
    found = {}

    def work(number):
        solver = tr.Solver(A, method="cg", device="cuda")
        found[number] = [lib.numpy(solver.solve(lib.array((k + 1) * b))) for k in range(5)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        for k in range(5):
            np.testing.assert_array_equal(found[number][k], found[0][k])


@pytest.mark.parametrize("order", ["trireme, cupy, torch", "torch, cupy, trireme",
                                   "cupy, trireme, torch"])
def test_import_orders(order):
    for library in ("cupy", "torch"):
        pytest.importorskip(library)
    program = f"""
import {order}
import numpy as np, scipy.sparse as sp
A = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
x, info = trireme.solve(A, cupy.ones(100), device="cuda")
y, info = trireme.solve(A, torch.ones(100, dtype=torch.float64, device="cuda"), device="cuda")
np.testing.assert_array_equal(x.get(), y.cpu().numpy())
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_gradients_by_the_adjoint_solve():
    torch = pytest.importorskip("torch")
    A = poisson(12) + sp.diags_array(np.linspace(0, 0.5, 143), offsets=1)
    forward, backward = (tr.Solver(M.tocsr(), device="cuda") for M in (A, A.T))

    class Solve(torch.autograd.Function):
        @staticmethod
        def forward(ctx, b):
            return forward.solve(b.detach(), rtol=1e-12)

        @staticmethod
        def backward(ctx, g):
            return backward.solve(g.detach(), rtol=1e-12)

    b = torch.rand(144, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(Solve.apply, (b,), atol=1e-6, rtol=1e-5, nondet_tol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_right_hand_sides_are_solved_together_where_that_pays(lib, order):
    rng = np.random.default_rng(3)
    n, width = 20000, 9
    A = sp.random_array((n, n), density=100 / n, random_state=rng, format="csr")
    A = (A + A.T + 300 * sp.eye_array(n)).tocsr()
    B = np.asarray(rng.normal(size=(n, width)), order=order)
    solver = tr.Solver(A, device="cuda", method="cg", preconditioner="jacobi")
    for attempts in [1] + [0] * (width - 1), [0] * width:
        X = solver.solve(lib.array(B))
        assert np.all(solver.info == 0)
        assert [len(r["attempts"]) for r in solver.report["vectors"]] == attempts
        on_host = lib.numpy(X)
        for k in range(width):
            assert residual(A, on_host[:, k], B[:, k]) <= 1.01e-8
    solver.update(1e-200 * A.data)
    X = lib.numpy(solver.solve(lib.array(B)))
    assert max(residual(1e-200 * A, X[:, k], B[:, k]) for k in range(width)) <= 1.01e-8
    multigrid = tr.Solver(poisson(40), device="cuda", method="cg", preconditioner="multigrid")
    multigrid.solve(lib.array(B[:1600]))
    assert [len(r["attempts"]) for r in multigrid.report["vectors"]] == [1] * width
