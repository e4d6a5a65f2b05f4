# SPDX-License-Identifier: BSD-3-Clause
"""Matrices and preconditioners as LinearOperators of scipy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from trireme import _core
from trireme._arrays import ForThisProcess, OneAtATime, Vector, matrix_of
from trireme._gpu_arrays import GpuVectors, gpu_vectors
from trireme._other_arrays import gpu_of, in_kind_of, on_host

# Writes its second argument, whose size is that of the result.
_Apply = Callable[[Vector, Vector], None]
_ApplyOnGpu = Callable[[GpuVectors, GpuVectors], None]


def _applied(apply: _Apply, x: NDArray[Any], size: int) -> NDArray[Any]:
    """The product with one vector, by its real and imaginary parts where it is complex."""
    if np.iscomplexobj(x):
        real = _applied(apply, x.real, size)
        return np.asarray(real + 1j * _applied(apply, x.imag, size))
    y = np.empty(size)
    apply(np.require(x.ravel(), np.float64, ["C_CONTIGUOUS", "ALIGNED"]), y)
    return y


class _Operator(ForThisProcess, LinearOperator):  # type: ignore[misc]
    """A LinearOperator that gives products in the kind of the vectors."""

    _gpu = -1  # the number of the GPU that it works on; -1: the CPU
    _apply_on_gpu: _ApplyOnGpu

    def matvec(self, x: Any) -> Any:
        if self._gpu >= 0 and getattr(x, "ndim", 0) == 1:
            there = gpu_vectors("x", x, self.shape[1], self._gpu)
            if there is not None:
                y = there.like(zero=False)  # an operator on a GPU is square
                self._apply_on_gpu(there, y)
                return y.array
        return in_kind_of(x, super().matvec(on_host("x", x)))

    def rmatvec(self, x: Any) -> Any:
        return in_kind_of(x, super().rmatvec(on_host("x", x)))

    def matmat(self, X: Any) -> Any:
        return in_kind_of(X, super().matmat(on_host("X", X)))

    def rmatmat(self, X: Any) -> Any:
        return in_kind_of(X, super().rmatmat(on_host("X", X)))

    def dot(self, x: Any) -> Any:
        if self._gpu >= 0 and getattr(x, "ndim", 0) == 1 and gpu_of(x) is not None:
            return self.matvec(x)
        return in_kind_of(x, super().dot(on_host("x", x)))


class Preconditioner(_Operator):
    """z = M^-1 r as an operator for ``M`` of scipy's functions: see `Solver.aspreconditioner`."""

    def __init__(
        self, shape: tuple[int, int], apply: _Apply, apply_on_gpu: _ApplyOnGpu, gpu: int
    ) -> None:
        super().__init__(np.dtype(np.float64), shape)
        self._apply = apply
        self._apply_on_gpu = apply_on_gpu
        self._gpu = gpu

    def _matvec(self, r: NDArray[Any]) -> NDArray[Any]:
        return _applied(self._apply, r, self.shape[0])


class MatrixOperator(_Operator):
    """A matrix that a kernel of Trireme multiplies by: see `aslinearoperator`."""

    def __init__(self, A: Any, kernel: str = "auto", device: str = "auto") -> None:
        if device == "auto" and (number := gpu_of(A)) is not None and _core.has_gpu():
            device = f"cuda:{number}"
        matrix = matrix_of(A, square=False)
        for name, word in {"kernel": kernel, "device": device}.items():
            if not isinstance(word, str):
                raise TypeError(f"{name} is {word!r}: it must be a word")
        super().__init__(np.dtype(np.float64), matrix.shape)
        self._one_at_a_time = OneAtATime()
        self._core = _core.Product(
            *matrix.shape, matrix.row_ptr, matrix.col_idx, matrix.values, kernel, device
        )
        self._gpu = self._core.gpu
        self._apply_on_gpu = self._multiply_on_gpu

    def _multiply_on_gpu(self, x: GpuVectors, y: GpuVectors) -> None:
        with self._one_at_a_time:
            self._core.multiply_on_gpu(x.pointer, y.pointer, self.shape[0], x.stream)

    @property
    def kernel(self) -> str:
        """The kernel that multiplies."""
        return self._core.kernel

    @property
    def device(self) -> str:
        """Where it multiplies: "cpu" or "cuda"."""
        return self._core.device

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        with self._one_at_a_time:
            return _applied(self._core.multiply, x, self.shape[0])

    def _rmatvec(self, x: NDArray[Any]) -> NDArray[Any]:
        with self._one_at_a_time:
            return _applied(self._core.multiply_transposed, x, self.shape[1])

    def _matmat(self, X: NDArray[Any]) -> NDArray[Any]:
        rows, width = self.shape[0], X.shape[1]
        if width == 0:
            return np.zeros((rows, 0))

        def apply(x: Vector, y: Vector) -> None:
            self._core.multiply_many(x, y, width)

        with self._one_at_a_time:
            return _applied(apply, X, rows * width).reshape(rows, width)


def aslinearoperator(A: Any, kernel: str = "auto", device: str = "auto") -> MatrixOperator:
    """The product with A as a LinearOperator of scipy.

    Parameters
    ----------
    A : sparse matrix of scipy, torch (CSR) or JAX, or 2-D array; shape (m, n)
        Real. Its arrays are copied. It must be square on a GPU.
    kernel : str
        ``"auto"`` or one of `kernels`.
    device : {"auto", "cpu", "cuda"}
        Where it multiplies.

    Returns
    -------
    MatrixOperator
        A LinearOperator with ``matvec``, ``rmatvec`` and ``matmat``. Results are float64, or
        complex128 for complex vectors. They are NumPy arrays, and torch tensors or JAX arrays for
        vectors of these kinds.

    Raises
    ------
    ValueError, InputError, TypeError, MemoryError, DeviceError
        As `Solver`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> op = tr.aslinearoperator(sp.csr_array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]))
    >>> op @ np.array([1.0, 1.0, 1.0])
    array([3., 3.])
    >>> op.T @ np.array([1.0, 1.0])
    array([1., 2., 3.])
    """
    return MatrixOperator(A, kernel, device)
