# SPDX-License-Identifier: BSD-3-Clause
"""The caller's matrices and vectors, as the extension takes them."""

from __future__ import annotations

import dataclasses
import hashlib
import sys
import threading
from types import TracebackType
from typing import Any, NoReturn

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from trireme._errors import InputError
from trireme._other_arrays import matrix_on_host, on_host

Vector = NDArray[np.float64]
Indices = NDArray[np.int32] | NDArray[np.int64]

LARGEST_FLOAT = sys.float_info.max
LARGEST_BLOCK = 32  # rows of a block that the solver takes


class ForThisProcess:
    """Base of objects that are refused by pickle and copy."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} can be neither pickled nor copied: it holds memory and "
            "threads of this process; make another one from the matrix"
        )

    def __copy__(self) -> NoReturn:
        self.__reduce_ex__(2)

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce_ex__(2)


class OneAtATime:
    """Lets one thread pass; others wait. A callback that uses its own solver is refused."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside = False

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._inside:
            self._lock.release()
            raise RuntimeError("a callback cannot use the solver that calls it")
        self._inside = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._inside = False
        self._lock.release()


@dataclasses.dataclass(frozen=True)
class Csr:
    """A matrix in compressed sparse rows: contiguous arrays, values in float64."""

    shape: tuple[int, int]
    row_ptr: Indices
    col_idx: Indices
    values: Vector
    single: bool  # the caller's values are float32
    block_size: int  # of a BSR matrix; otherwise 1

    def pattern(self) -> bytes:
        """A digest of the places of the nonzeros."""
        digest = hashlib.sha256()  # processors have instructions for it
        piece = 2**20
        for indices in (self.row_ptr, self.col_idx):
            for begin in range(0, indices.size, piece):
                part = indices[begin : begin + piece]  # the extension takes up to 31 bits
                digest.update(part.astype(np.int32, copy=False).data)
        return digest.digest()

    def as_scipy(self) -> Any:
        return scipy.sparse.csr_array((self.values, self.col_idx, self.row_ptr), shape=self.shape)


def _refuse_type(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind in "biuf":
        return
    if dtype.kind == "c":
        raise TypeError(f"{name} is {dtype}: Trireme solves real systems only")
    raise TypeError(f"{name} has the type {dtype}: it must hold real numbers")


def _float64(array: NDArray[Any]) -> Vector:
    numbers: Vector = np.require(array, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    return numbers


def _indices(array: NDArray[Any]) -> Indices:
    kind: type[Any] = np.int32 if array.dtype == np.int32 else np.int64
    numbers: Indices = np.require(array, kind, ["C_CONTIGUOUS", "ALIGNED"])
    return numbers


def matrix_of(A: Any, *, square: bool = True) -> Csr:
    """The arrays of A, which are A's own ones where A is CSR with values in float64."""
    A = matrix_on_host(A)
    if not scipy.sparse.issparse(A) and not isinstance(A, np.ndarray):
        raise TypeError(
            f"A is a {type(A).__name__}: it must be a sparse matrix of scipy, torch or JAX, or a "
            "2-D array of numpy, torch or JAX"
        )
    _refuse_type("A", A.dtype)
    shape = A.shape
    if len(shape) != 2:
        raise ValueError(f"A has the shape {shape}: it must have two dimensions")
    rows, cols = int(shape[0]), int(shape[1])
    if square and rows != cols:
        raise ValueError(f"A has {rows} rows and {cols} columns: it must be square")

    single = A.dtype == np.float32
    block_size = 1
    if isinstance(A, np.ndarray):
        A = scipy.sparse.csr_array(np.asarray(A, dtype=np.float64))
    elif A.format != "csr":
        if A.format == "bsr" and A.blocksize[0] == A.blocksize[1] <= LARGEST_BLOCK:
            block_size = int(A.blocksize[0])
        A = A.tocsr()
    nnz = int(A.indptr[-1]) if A.indptr.size == rows + 1 else -1
    if not 0 <= nnz <= min(A.indices.size, A.data.size):
        raise InputError(
            f"A has {rows} rows, {A.indptr.size} numbers in indptr, {A.indices.size} in indices "
            f"and {A.data.size} in data: they do not fit together"
        )
    return Csr(
        shape=(rows, cols),
        row_ptr=_indices(A.indptr),
        col_idx=_indices(A.indices[:nnz]),
        values=_float64(A.data[:nnz]),
        single=bool(single),
        block_size=block_size,
    )


def values_of(values: Any) -> Vector:
    array = np.asarray(on_host("values", values))
    _refuse_type("values", array.dtype)
    if array.ndim != 1:
        raise ValueError(f"values has the shape {array.shape}: it must have one dimension")
    return _float64(array)


def numbers_of(name: str, array: Any, rows: int) -> NDArray[Any]:
    """A vector of `rows` numbers, or a matrix of that many rows, of the caller's type."""
    numbers: NDArray[Any] = array
    if type(array) is not np.ndarray:
        if scipy.sparse.issparse(array):
            raise TypeError(f"{name} is sparse: pass {name}.toarray()")
        numbers = np.asarray(on_host(name, array))
    _refuse_type(name, numbers.dtype)
    if numbers.ndim not in (1, 2) or numbers.shape[0] != rows:
        raise ValueError(
            f"{name} has the shape {numbers.shape}: A has {rows} rows, so it must be ({rows},) "
            f"or ({rows}, k)"
        )
    return numbers


def by_columns(array: NDArray[Any]) -> Vector:
    """The numbers of a vector, or those of one column after another."""
    flags = array.flags
    if array.ndim == 1 and array.dtype == np.float64 and flags.c_contiguous and flags.aligned:
        return array
    return _float64(array.ravel() if array.ndim == 1 else array.ravel(order="F"))


def norm_of(array: Vector) -> float:
    """The Euclidean norm, also where squares overflow or underflow."""
    largest = float(np.max(np.abs(array), initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(array / largest))


def tolerance_of(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not number >= 0.0:
        raise ValueError(f"{name} is {value!r}: it must be a number of at least 0")
    return min(number, LARGEST_FLOAT)


def count_of(name: str, value: Any, least: int = 1) -> int:
    number: int = value
    if type(value) is not int:
        if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
            raise TypeError(f"{name} is {value!r}: it must be an integer")
        number = int(value)
    if number < least:
        raise ValueError(f"{name} is {number}: it must be at least {least}")
    return min(number, 2**62)
