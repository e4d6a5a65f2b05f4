# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of CuPy and torch in the memory of a GPU, which are read and written where they are.

No library is imported here, but the one that the caller's array is of.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from trireme._other_arrays import is_a


class _Cupy:
    """What is done with arrays of CuPy."""

    def __init__(self) -> None:
        self.module: Any = sys.modules["cupy"]

    def number(self, array: Any) -> int:
        return int(array.data.device_id)

    def _on_device(self, array: Any) -> AbstractContextManager[Any]:
        current = self.module.cuda.runtime.getDevice()
        return nullcontext() if current == self.number(array) else array.device

    def stream(self, array: Any) -> int:
        with self._on_device(array):
            return int(self.module.cuda.get_current_stream().ptr)

    def pointer(self, array: Any) -> int:
        return int(array.data.ptr)

    def refuse(self, name: str, array: Any) -> None:
        kind = array.dtype.kind
        if kind == "c":
            raise TypeError(f"{name} is {array.dtype}: Trireme solves real systems only")
        if kind not in "biuf":
            raise TypeError(f"{name} has the type {array.dtype}: it must hold real numbers")

    def is_single(self, array: Any) -> bool:
        return bool(array.dtype == np.float32)

    def contiguous(self, array: Any) -> Any:
        if array.dtype == np.float64 and array.flags.c_contiguous:
            return array
        return self.module.ascontiguousarray(array, dtype=np.float64)

    def zeros(self, like: Any) -> Any:
        with self._on_device(like):
            return self.module.zeros(like.shape)

    def empty(self, like: Any) -> Any:
        with self._on_device(like):
            return self.module.ndarray(like.shape)

    def contiguous_as_is(self, array: Any) -> Any:
        return self.module.ascontiguousarray(array)

    def copy(self, array: Any) -> Any:
        return array.copy()

    def single(self, array: Any) -> Any:
        return array.astype(np.float32)


class _Torch:
    """What is done with tensors of torch."""

    def __init__(self) -> None:
        self.module: Any = sys.modules["torch"]

    def number(self, array: Any) -> int:
        return int(array.device.index)

    def stream(self, array: Any) -> int:
        return int(self.module.cuda.current_stream(array.device).cuda_stream)

    def pointer(self, array: Any) -> int:
        return int(array.data_ptr())

    def refuse(self, name: str, array: Any) -> None:
        if array.layout != self.module.strided:
            raise TypeError(f"{name} is sparse: pass {name}.to_dense()")
        if array.is_complex():
            raise TypeError(f"{name} is {array.dtype}: Trireme solves real systems only")
        if array.requires_grad:
            raise TypeError(
                f"{name} requires grad, which Trireme does not follow: pass {name}.detach(), or "
                "write a torch.autograd.Function as docs/python.md shows"
            )

    def is_single(self, array: Any) -> bool:
        return bool(array.dtype == self.module.float32)

    def contiguous(self, array: Any) -> Any:
        return array.resolve_neg().to(self.module.float64).contiguous()

    def zeros(self, like: Any) -> Any:
        return self.module.zeros_like(like)

    def empty(self, like: Any) -> Any:
        return self.module.empty_like(like)

    def contiguous_as_is(self, array: Any) -> Any:
        return array.contiguous()

    def copy(self, array: Any) -> Any:
        return array.clone()

    def single(self, array: Any) -> Any:
        return array.to(self.module.float32)


_Library = _Cupy | _Torch


def library_of(thing: Any) -> _Library | None:
    """The library of an array on a GPU of CUDA; None for what is elsewhere."""
    if is_a(thing, "cupy", "ndarray"):
        return _Cupy()
    if is_a(thing, "torch", "Tensor") and thing.device.type == "cuda":
        return _Torch()
    return None


class GpuVectors:
    """One vector or several ones: float64, one column after another in the memory of a GPU."""

    __slots__ = ("array", "by_columns", "library", "single")

    def __init__(self, library: _Library, array: Any, single: bool, by_columns: bool) -> None:
        self.library = library
        self.array = array  # of the shape (n,) or (k, n)
        self.single = single  # the caller's numbers are float32
        self.by_columns = by_columns  # the caller's matrix has its columns one after another

    @property
    def pointer(self) -> int:
        return self.library.pointer(self.array)

    @property
    def stream(self) -> int:
        return self.library.stream(self.array)

    @property
    def width(self) -> int | None:
        """The number of columns of a matrix; None for a vector."""
        return int(self.array.shape[0]) if self.array.ndim == 2 else None

    def like(self, *, zero: bool) -> GpuVectors:
        """Vectors of the same shape to be written."""
        make = self.library.zeros if zero else self.library.empty
        return GpuVectors(self.library, make(self.array), self.single, self.by_columns)

    def copy(self) -> GpuVectors:
        return GpuVectors(
            self.library, self.library.copy(self.array), self.single, self.by_columns
        )

    def result(self, single: bool) -> Any:
        """These vectors as the caller expects them."""
        array = self.library.single(self.array) if single else self.array
        if array.ndim == 1:
            return array
        return array.T if self.by_columns else self.library.contiguous_as_is(array.T)


def gpu_vectors(name: str, thing: Any, rows: int, gpu: int) -> GpuVectors | None:
    """What `thing` holds on the GPU of that number; None where it is no array on a GPU.

    Raises ValueError for another shape, or an array of another GPU.
    """
    library = library_of(thing)
    if library is None:
        return None
    library.refuse(name, thing)
    if thing.ndim not in (1, 2) or thing.shape[0] != rows:
        shape = tuple(thing.shape)
        raise ValueError(
            f"{name} has the shape {shape}: A has {rows} rows, so it must be ({rows},) or "
            f"({rows}, k)"
        )
    if library.number(thing) != gpu:
        raise ValueError(
            f"{name} is on cuda:{library.number(thing)}, and the solver on cuda:{gpu}: pass "
            f"device='cuda:{library.number(thing)}' to the solver, or move {name}"
        )
    columns = thing if thing.ndim == 1 else thing.T
    contiguous = library.contiguous(columns)
    by_columns = thing.ndim == 2 and library.pointer(contiguous) == library.pointer(thing)
    return GpuVectors(library, contiguous, library.is_single(thing), by_columns)
