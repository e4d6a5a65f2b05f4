# SPDX-License-Identifier: BSD-3-Clause
"""What this build of Trireme has."""

from __future__ import annotations

from trireme import _core


def kernels() -> dict[str, _core.KernelFacts]:
    """Kernels that multiply by a matrix.

    Returns
    -------
    dict of dict
        By the name of the kernel: ``summary`` and ``paper`` (text), ``on_cpu`` and ``on_cuda``
        (whether it runs there), and ``peer`` (whether it is there to be compared with).

    Examples
    --------
    >>> import trireme as tr
    >>> tr.kernels()["csr"]["on_cpu"]
    True
    """
    return _core.kernels()


def methods() -> list[str]:
    """Names for ``method``, beside ``"auto"``.

    Examples
    --------
    >>> import trireme as tr
    >>> {"cg", "bicgstab", "minres", "gmres"} <= set(tr.methods())
    True
    """
    return _core.methods()


def preconditioners() -> list[str]:
    """Names for ``preconditioner``, beside ``"auto"``.

    Examples
    --------
    >>> import trireme as tr
    >>> "multigrid" in tr.preconditioners()
    True
    """
    return _core.preconditioners()


def has_gpu() -> bool:
    """Whether this build has CUDA, and this machine a GPU for it.

    Examples
    --------
    >>> import trireme as tr
    >>> isinstance(tr.has_gpu(), bool)
    True
    """
    return _core.has_gpu()
