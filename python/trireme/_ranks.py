# SPDX-License-Identifier: BSD-3-Clause
"""The processes of a communicator of mpi4py."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from trireme._errors import InputError

_KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (InputError, MemoryError, TypeError, ValueError)
}
_ALONE = contextlib.nullcontext()


class Ranks:
    """The processes that solve together, or this one alone where `comm` is None."""

    def __init__(self, comm: Any) -> None:
        self.address = 0  # of the MPI_Comm
        self.comm = comm
        if comm is None:
            return
        if type(comm).__module__.partition(".")[0] != "mpi4py":
            raise TypeError(f"comm is a {type(comm).__name__}: it must be a communicator of mpi4py")
        self.address = importlib.import_module("mpi4py.MPI")._addressof(comm)

    def together(self) -> contextlib.AbstractContextManager[None]:
        """For work of this process alone: an exception of one process is raised in all."""
        return _ALONE if self.comm is None else self._agreeing()

    @contextlib.contextmanager
    def _agreeing(self) -> Iterator[None]:
        mine: Exception | None = None
        try:
            yield
        except Exception as error:
            mine = error
        told = None if mine is None else (type(mine).__name__, str(mine))
        of_all = self.comm.allgather(told)
        if mine is not None:
            raise mine
        for rank, other in enumerate(of_all):
            if other is not None:
                kind = _KINDS.get(other[0], RuntimeError)
                raise kind(f"rank {rank}: {other[1]}")
