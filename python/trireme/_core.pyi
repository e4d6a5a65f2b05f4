# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

_Vector = NDArray[np.float64]
_Indices = NDArray[np.int32] | NDArray[np.int64]
# Gets the number of the iteration, the relative norm, and the solution where it was asked for.
_Callback = Callable[[int, float, _Vector | None], object]

version: str
has_mpi: bool

class KernelFacts(TypedDict):
    summary: str
    paper: str
    on_cpu: bool
    on_cuda: bool
    peer: bool

class MultigridOptions:
    cycle: str
    smoother: str
    degree: int
    threshold: float
    smoothed_prolongator: bool
    fill: float
    aggressive_levels: int
    max_levels: int
    coarsest_rows: int
    def __init__(self) -> None: ...

class SolverOptions:
    method: str
    preconditioner: str
    kernel: str
    precision: str
    device: str
    scaling: str
    block_size: int
    restart: int
    chebyshev_degree: int
    ilu_levels: int
    ilu_order: str
    multigrid: MultigridOptions
    communicator: int
    def __init__(self) -> None: ...
    def set_coordinates(self, places: _Vector, dimensions: int) -> None: ...
    def set_near_nullspace(self, vectors: _Vector, modes: int) -> None: ...

class SolveOptions:
    rtol: float
    atol: float
    in_every_row: bool
    drop_worse_guess: bool
    max_iterations: int
    guess: bool
    solves_after: int
    def __init__(
        self,
        rtol: float = ...,
        atol: float = ...,
        max_iterations: int = ...,
        guess: bool = ...,
        solves_after: int = ...,
    ) -> None: ...

class SolveReport:
    @property
    def converged(self) -> bool: ...
    @property
    def status(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def iterations(self) -> int: ...
    @property
    def relative_residual(self) -> float: ...
    def as_dict(self) -> dict[str, Any]: ...

class Solver:
    def __init__(
        self,
        rows: int,
        cols: int,
        row_ptr: _Indices,
        col_idx: _Indices,
        values: _Vector,
        options: SolverOptions,
    ) -> None: ...
    @property
    def rows(self) -> int: ...
    def solve(
        self,
        b: _Vector,
        x: _Vector,
        how: SolveOptions,
        callback: _Callback | None,
        solution_every: int,
        polls_signals: bool,
    ) -> SolveReport: ...
    def solve_many(
        self,
        b: _Vector,
        x: _Vector,
        width: int,
        how: SolveOptions,
        callback: _Callback | None,
        solution_every: int,
        polls_signals: bool,
    ) -> list[SolveReport]: ...
    @property
    def gpu(self) -> int: ...
    def solve_on_gpu(
        self,
        b: int,
        x: int,
        size: int,
        stream: int,
        how: SolveOptions,
        callback: _Callback | None,
        solution_every: int,
        polls_signals: bool,
    ) -> SolveReport: ...
    def solve_many_on_gpu(
        self,
        b: int,
        x: int,
        size: int,
        stream: int,
        width: int,
        how: SolveOptions,
        callback: _Callback | None,
        solution_every: int,
        polls_signals: bool,
    ) -> list[SolveReport]: ...
    def update(self, values: _Vector) -> None: ...
    def precondition_on_gpu(self, r: int, z: int, size: int, stream: int) -> None: ...
    def precondition(self, r: _Vector, z: _Vector) -> None: ...
    def facts(self) -> dict[str, Any]: ...

class Product:
    def __init__(
        self,
        rows: int,
        cols: int,
        row_ptr: _Indices,
        col_idx: _Indices,
        values: _Vector,
        kernel: str,
        device: str,
    ) -> None: ...
    @property
    def kernel(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def gpu(self) -> int: ...
    def multiply_on_gpu(self, x: int, y: int, size: int, stream: int) -> None: ...
    def multiply(self, x: _Vector, y: _Vector) -> None: ...
    def multiply_transposed(self, x: _Vector, y: _Vector) -> None: ...
    def multiply_many(self, x: _Vector, y: _Vector, width: int) -> None: ...

def kernels() -> dict[str, KernelFacts]: ...
def methods() -> list[str]: ...
def preconditioners() -> list[str]: ...
def has_gpu() -> bool: ...
