# SPDX-License-Identifier: BSD-3-Clause
"""Matrices and vectors of torch, JAX and other libraries, as those of SciPy and NumPy.

No library is imported here. An object is known by the module of its type, and a result is made by
the module that the caller has imported.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from trireme._errors import InputError

# DLPack's numbers of devices. The host reads the memory of a CPU and pinned memory of CUDA or ROCm.
_HOST = (1, 3, 11)
_DEVICES = {2: "cuda", 7: "vulkan", 8: "metal", 10: "rocm", 13: "cuda", 14: "oneapi"}


def is_a(thing: Any, library: str, *names: str) -> bool:
    """Whether the type of `thing`, or a base of it, is a type of `library` with such a name."""
    for base in type(thing).__mro__:
        if base.__name__ in names and base.__module__.partition(".")[0] == library:
            return True
    return False


def _is_torch(thing: Any) -> bool:
    return is_a(thing, "torch", "Tensor")


def _is_jax(thing: Any) -> bool:
    return is_a(thing, "jaxlib", "ArrayImpl", "Array") or is_a(thing, "jax", "Array", "Tracer")


def _is_jax_sparse(thing: Any) -> bool:
    return is_a(thing, "jax", "JAXSparse")


def _is_cupy(thing: Any) -> bool:
    return type(thing).__module__.partition(".")[0] in ("cupy", "cupyx") and hasattr(thing, "get")


def _device(thing: Any) -> str | None:
    """The name of the device that has the memory of `thing`, or None for the host."""
    if _is_torch(thing):
        return None if thing.device.type == "cpu" else str(thing.device)
    if _is_jax(thing):
        return next((str(d) for d in thing.devices() if d.platform != "cpu"), None)
    if _is_cupy(thing):
        return f"cuda:{gpu_of(thing)}"
    if hasattr(thing, "__cuda_array_interface__"):
        return "cuda"
    if hasattr(thing, "__dlpack_device__"):
        kind, number = (int(n) for n in thing.__dlpack_device__())
        return None if kind in _HOST else f"{_DEVICES.get(kind, f'DLPack device {kind}')}:{number}"
    return None


def _refuse(name: str, thing: Any) -> None:
    """Raises for what is on a device of another kind, or takes part in derivatives."""
    if is_a(thing, "jax", "Tracer"):
        raise TypeError(
            f"{name} is traced by JAX: call Trireme outside of jax.jit, jax.grad and jax.vmap"
        )
    device = _device(thing)
    if device is not None and not (_is_torch(thing) or _is_jax(thing) or _is_cupy(thing)):
        raise TypeError(
            f"{name} is on {device}: pass an array of the host, of CuPy, of torch or of JAX"
        )
    if _is_torch(thing) and thing.requires_grad:
        raise TypeError(
            f"{name} requires grad, which Trireme does not follow: pass {name}.detach(), or write "
            "a torch.autograd.Function as docs/python.md shows"
        )


def on_host(name: str, thing: Any) -> Any:
    """A vector or dense matrix of another library as a NumPy array. What else there is stays."""
    if isinstance(thing, np.ndarray) or scipy.sparse.issparse(thing):
        return thing
    _refuse(name, thing)
    if _is_torch(thing):
        torch = sys.modules["torch"]
        if thing.layout != torch.strided:
            raise TypeError(f"{name} is sparse: pass {name}.to_dense()")
        if thing.dtype == torch.bfloat16:
            thing = thing.double()
        return thing.detach().cpu().resolve_conj().resolve_neg().numpy()
    if _is_cupy(thing):
        return thing.get()
    if _is_jax_sparse(thing):
        raise TypeError(f"{name} is sparse: pass {name}.todense()")
    if _is_jax(thing):
        array = np.asarray(thing)
        # NumPy itself does not know the short floats of JAX, such as bfloat16.
        short = array.dtype.kind == "V" and "float" in array.dtype.name
        return array.astype(np.float64) if short else array
    if hasattr(thing, "__dlpack__") and not hasattr(thing, "__array__"):
        try:
            return np.from_dlpack(thing)
        except (BufferError, RuntimeError, TypeError, ValueError) as failure:
            reason = (str(failure).splitlines() or [""])[0]
            raise TypeError(f"{name} cannot be read by DLPack: {reason}") from failure
    return thing


def _compressed(shape: tuple[int, ...], indptr: Any, indices: Any, data: Any) -> Any:
    try:
        return scipy.sparse.csr_array((data, indices, indptr), shape=shape)
    except ValueError as failure:
        reason = (str(failure).splitlines() or [""])[0]
        raise InputError(f"the arrays of A do not fit together: {reason}") from failure


def _two_dimensions(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(f"A has the shape {shape}: it must have two dimensions")


def _of_torch(A: Any) -> Any:
    torch = sys.modules["torch"]
    _two_dimensions(shape := tuple(A.shape))
    if A.layout == torch.strided:
        return on_host("A", A)
    if A.layout != torch.sparse_csr:
        raise TypeError(f"A has the layout {A.layout}: pass A.to_sparse_csr()")
    arrays = A.crow_indices(), A.col_indices(), A.values()
    return _compressed(shape, *(on_host("A", array.detach()) for array in arrays))


def _of_jax(A: Any) -> Any:
    compressed = is_a(A, "jax", "BCSR")
    if not compressed and not is_a(A, "jax", "BCOO"):
        raise TypeError(f"A is a {type(A).__name__} of JAX: pass a BCSR or a BCOO")
    if A.n_batch or A.n_dense:
        raise ValueError(f"A has n_batch {A.n_batch} and n_dense {A.n_dense}: both must be 0")
    _two_dimensions(shape := tuple(A.shape))
    indices, data = on_host("A", A.indices), on_host("A", A.data)
    if compressed:
        return _compressed(shape, on_host("A", A.indptr), indices, data)
    inside = np.all(indices < np.array(shape), axis=1)  # JAX pads with places outside of A
    rows, cols = indices[inside].T
    try:
        return scipy.sparse.coo_array((data[inside], (rows, cols)), shape=shape).tocsr()
    except ValueError as failure:
        raise InputError(f"A: {failure}") from failure


def matrix_on_host(A: Any) -> Any:
    """A matrix of another library as one of SciPy or NumPy. What else there is stays."""
    if isinstance(A, np.ndarray) or scipy.sparse.issparse(A):
        return A
    _refuse("A", A)
    if _is_torch(A):
        return _of_torch(A)
    if _is_jax_sparse(A):
        return _of_jax(A)
    if _is_cupy(A):
        return A.get()
    return on_host("A", A) if _is_jax(A) else A


def gpu_of(thing: Any) -> int | None:
    """The number of the GPU of CUDA that has the arrays of CuPy or torch; None for others."""
    if _is_torch(thing):
        return int(thing.device.index) if thing.device.type == "cuda" else None
    return int(thing.data.device.id) if _is_cupy(thing) else None


def in_kind_of(given: Any, x: NDArray[Any]) -> Any:
    """x, which nothing else holds, as an array of the library that has made `given`, where it is."""
    if type(given) is np.ndarray:
        return x
    if _is_torch(given):
        return sys.modules["torch"].from_numpy(x).to(given.device)
    if _is_cupy(given):
        with given.device:
            return sys.modules["cupy"].asarray(x)
    if _is_jax(given):
        jax = sys.modules["jax"]
        with jax.default_device(next(iter(given.devices()))):
            return jax.numpy.asarray(x)
    return x
