# SPDX-License-Identifier: BSD-3-Clause
"""Solver, which keeps a matrix, and solve, which makes one for a single solve."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from trireme import _core
from trireme._arrays import (
    Csr,
    ForThisProcess,
    OneAtATime,
    Vector,
    by_columns,
    count_of,
    matrix_of,
    numbers_of,
    tolerance_of,
    values_of,
)
from trireme._errors import ConvergenceWarning, NotConverged
from trireme._gpu_arrays import GpuVectors, gpu_vectors
from trireme._operators import Preconditioner
from trireme._other_arrays import gpu_of, in_kind_of, matrix_on_host, on_host
from trireme._ranks import Ranks
from trireme._report import Report

Callback = Callable[[Vector], object]

SINGLE_RTOL = 1e-6  # least rtol where the result is float32
BREAKDOWN = -10  # what bicgstab of scipy returns


def is_main_thread() -> bool:
    """Whether this is the thread in which Python handles signals."""
    return threading.current_thread() is threading.main_thread()


def info_of(report: _core.SolveReport) -> int:
    if report.converged:
        return 0
    return BREAKDOWN if report.status == "breakdown" else max(1, report.iterations)


def _showing(callback: Callback, b: Any) -> Callable[[int, float, Vector | None], object]:
    """What the extension calls, and `callback` with arrays of the kind of b."""
    if not callable(callback):
        raise TypeError(f"callback is {callback!r}: it must be callable")

    def shown(number: int, norm: float, xk: Vector | None) -> object:
        return callback(in_kind_of(b, xk)) if xk is not None else None

    return shown


def multigrid_options(given: Mapping[str, Any]) -> _core.MultigridOptions:
    options = _core.MultigridOptions()
    names = [name for name in dir(options) if not name.startswith("_")]
    for name, value in given.items():
        if name not in names:
            raise ValueError(f"multigrid has no option {name!r}: it has {', '.join(names)}")
        try:
            setattr(options, name, value)
        except (TypeError, RuntimeError):
            default = getattr(options, name)
            raise TypeError(
                f"multigrid: {name} is {value!r}: it must be of the type {type(default).__name__}"
            ) from None
    return options


def solver_options(
    matrix: Csr,
    words: Mapping[str, str],
    block_size: int | None = None,
    restart: int = 30,
    chebyshev_degree: int = 4,
    ilu_levels: int = 0,
    coordinates: ArrayLike | None = None,
    near_nullspace: ArrayLike | None = None,
    multigrid: Mapping[str, Any] | None = None,
) -> _core.SolverOptions:
    options = _core.SolverOptions()
    for name, word in words.items():
        if not isinstance(word, str):
            raise TypeError(f"{name} is {word!r}: it must be a word")
        setattr(options, name, word)
    largest = 2**31 - 1
    options.restart = min(count_of("restart", restart), largest)
    options.chebyshev_degree = min(count_of("chebyshev_degree", chebyshev_degree), largest)
    options.ilu_levels = min(count_of("ilu_levels", ilu_levels, least=0), largest)
    if block_size is not None:
        options.block_size = min(count_of("block_size", block_size), largest)
        if matrix.shape[0] % options.block_size:
            raise ValueError(
                f"block_size is {block_size}: it must divide the {matrix.shape[0]} rows of A"
            )
    else:
        options.block_size = matrix.block_size
    if multigrid is not None:
        options.multigrid = multigrid_options(multigrid)
    rows = matrix.shape[0]
    if coordinates is not None:
        places = np.asarray(on_host("coordinates", coordinates))
        if places.ndim != 2 or places.shape[1] not in (2, 3) or places.size != rows:
            raise ValueError(
                f"coordinates has the shape {places.shape}: A has {rows} rows, so it must be "
                f"({rows // 2}, 2) or ({rows // 3}, 3)"
            )
        options.set_coordinates(values_of(places.ravel()), places.shape[1])
        if block_size is None:
            options.block_size = places.shape[1]
    if near_nullspace is not None:
        vectors = numbers_of("near_nullspace", near_nullspace, rows)
        modes = 1 if vectors.ndim == 1 else vectors.shape[1]
        options.set_near_nullspace(values_of(vectors.ravel()), modes)
    return options


class Solver(ForThisProcess):
    """Solves A x = b for one matrix and many right-hand sides.

    Parameters
    ----------
    A : sparse matrix of scipy, torch (CSR) or JAX, or 2-D array; shape (n, n)
        Real. Its arrays are copied. Entries of the same place add up.
    method : str
        ``"auto"`` or one of `methods`. ``"auto"`` looks at the matrix, begins with what is
        cheapest, and goes on to another method where that fails.
    preconditioner : str
        ``"auto"`` or one of `preconditioners`.
    kernel : str
        ``"auto"`` or one of `kernels`: how A is stored and multiplied.
    precision : {"double", "mixed"}
        ``"mixed"`` keeps the values of A in float32 and corrects in float64.
    device : {"auto", "cpu", "cuda"}
        Where it solves.
    scaling : {"auto", "none", "diagonal", "ruiz", "matching"}
        By which powers of two rows and columns are multiplied. Not with `coordinates` or
        `near_nullspace`.
    block_size : int, optional
        Number of consecutive rows that are the unknowns of one node. By default that of a BSR
        matrix with square blocks of at most 32 rows, or the number of columns of `coordinates`;
        else multigrid finds it where the pattern shows it.
    coordinates : array_like, shape (n / 2, 2) or (n / 3, 3), optional
        Of elastic bodies, for multigrid: the place of each node, in one unit of length.
    near_nullspace : array_like, shape (n,) or (n, k), optional
        In place of `coordinates`: vectors that A maps to almost zero.
    multigrid : dict, optional
        Options of multigrid: ``cycle`` ("v", "w"), ``smoother`` ("chebyshev", "jacobi",
        "l1-jacobi", "block-jacobi"), ``degree``, ``threshold``, ``smoothed_prolongator``,
        ``fill``, ``aggressive_levels``, ``max_levels``, ``coarsest_rows``.
    restart : int
        Iterations of GMRES between restarts.
    chebyshev_degree : int
        Products per application of the preconditioner ``"chebyshev"``.
    ilu_levels : int
        Levels of fill of the preconditioners ``"ilu"`` and ``"icc"``, 0 to 8.
    ilu_order : {"auto", "given", "rcm", "colours"}
        In which their rows are eliminated: as they are, by reverse Cuthill-McKee, or by colours,
        which suits GPUs and costs iterations. ``"auto"``: as they are on CPUs, colours on GPUs.
    comm : communicator of mpi4py, optional
        Of the processes that solve together, on CPUs, where Trireme was built with MPI. A has the
        rows of this process, which follow those of the process before, and all columns. b, x0, x,
        `coordinates` and `near_nullspace` have the rows of this process. All processes make the
        solver, call its methods and close it together, with the same options.

    Attributes
    ----------
    info : int or ndarray of int
        How the last solve has ended: 0 converged; > 0 the iterations of one that has not; < 0
        breakdown of the method. An array where b had two dimensions.

    Raises
    ------
    ValueError
        For a word or a number that is not possible, or a matrix that is not square.
    InputError
        For a matrix with a value that is not finite, or an index out of range.
    TypeError
        For a matrix that is complex, or no matrix.
    MemoryError, DeviceError
        For too little memory, or a device that is not there.

    Notes
    -----
    Threads may use different solvers at the same time. Those that use the same solver wait for
    each other. Ctrl-C ends a solve of the main thread within 0.2 s.

    Smoothed aggregation multigrid is that of P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid
    by smoothed aggregation for second and fourth order elliptic problems", Computing 56 (1996).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> A = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
    >>> with tr.Solver(A, method="cg") as solver:
    ...     x = solver.solve(np.ones(100))
    ...     solver.update(2 * A.data)
    ...     y = solver.solve(np.ones(100))
    >>> bool(np.allclose(x, 2 * y))
    True
    """

    info: int | NDArray[np.int64]

    def __init__(
        self,
        A: Any,
        method: str = "auto",
        preconditioner: str = "auto",
        *,
        kernel: str = "auto",
        precision: str = "double",
        device: str = "auto",
        scaling: str = "auto",
        block_size: int | None = None,
        coordinates: ArrayLike | None = None,
        near_nullspace: ArrayLike | None = None,
        multigrid: Mapping[str, Any] | None = None,
        restart: int = 30,
        chebyshev_degree: int = 4,
        ilu_levels: int = 0,
        ilu_order: str = "auto",
        comm: Any = None,
    ) -> None:
        self._ranks = Ranks(comm)
        if device == "auto" and (number := gpu_of(A)) is not None and _core.has_gpu():
            device = f"cuda:{number}"
        words = {
            "method": method,
            "preconditioner": preconditioner,
            "kernel": kernel,
            "precision": precision,
            "device": device,
            "scaling": scaling,
            "ilu_order": ilu_order,
        }
        with self._ranks.together():
            matrix = matrix_of(A, square=comm is None)
            options = solver_options(
                matrix,
                words,
                block_size=block_size,
                restart=restart,
                chebyshev_degree=chebyshev_degree,
                ilu_levels=ilu_levels,
                coordinates=coordinates,
                near_nullspace=near_nullspace,
                multigrid=multigrid,
            )
        options.communicator = self._ranks.address
        self.info = 0
        self._one_at_a_time = OneAtATime()
        self._shape = matrix.shape
        self._single = matrix.single
        self._pattern = matrix.pattern()
        self._last: list[_core.SolveReport] = []
        self._failed = False  # one of them
        self._open: _core.Solver | None = _core.Solver(
            *matrix.shape, matrix.row_ptr, matrix.col_idx, matrix.values, options
        )
        self._gpu = self._open.gpu

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of A; with `comm`, those of this process."""
        return self._shape

    @property
    def _inner(self) -> _core.Solver:
        if self._open is None:
            raise ValueError("this solver is closed")
        return self._open

    def solve(
        self,
        b: Any,
        x0: Any = None,
        *,
        rtol: float = 1e-8,
        atol: float = 0.0,
        maxiter: int = 10000,
        callback: Callback | None = None,
        raise_on_failure: bool = False,
        solves_after: int = 0,
    ) -> Any:
        """Solve A x = b.

        Parameters
        ----------
        b : array_like, shape (n,) or (n, k)
            One right-hand side, or k of them in columns, which are solved together where the
            method can. Real, in any layout.
        x0 : array_like of the shape of b, optional
            Initial guess. It is not changed.
        rtol, atol : float
            x is converged when ``norm(b - A @ x) <= max(rtol * norm(b), atol)``; one of the two
            must be above 0. Where b and A are float32, rtol is at least 1e-6.
        maxiter : int
            Most iterations.
        callback : callable, optional
            Called as ``callback(xk)`` after each iteration that has a solution, with a new array
            of shape (n,), of the kind of b: on a CPU, by a method without restarts, in double precision. Where it
            returns True, the solve ends. Of several right-hand sides, it is called for the first
            one.
        raise_on_failure : bool
            Raise `NotConverged`, in place of a `ConvergenceWarning`.
        solves_after : int
            How many solves with this matrix are expected after this one. ``preconditioner="auto"``
            weighs a set-up against them.

        Returns
        -------
        ndarray
            The solution in the shape of b: float32 if A and b are float32, otherwise float64.
            It is a torch tensor or a JAX array where b is one.

        Raises
        ------
        ValueError
            For shapes that do not fit, or a number that is not possible.
        InputError
            For b or x0 with a value that is not finite, or a matrix unfit for the method.
        NotConverged
            With `raise_on_failure`. It has what the solve has reached.

        Examples
        --------
        >>> import numpy as np, trireme as tr
        >>> solver = tr.Solver(np.diag([1.0, 2.0, 4.0]))
        >>> solver.solve([1.0, 1.0, 1.0]).round(6)
        array([1.  , 0.5 , 0.25])
        >>> solver.solve(np.eye(3)).shape
        (3, 3)
        """
        x = self._solve(b, x0, rtol, atol, maxiter, callback, solves_after)
        self._tell_failure(x, raise_on_failure, stacklevel=3)
        return x

    def _solve(
        self,
        b: Any,
        x0: Any,
        rtol: float,
        atol: float,
        maxiter: int,
        callback: Callback | None,
        solves_after: int = 0,
    ) -> Any:
        rows = self._shape[0]
        x: NDArray[Any]
        with self._ranks.together():
            how = _core.SolveOptions(
                tolerance_of("rtol", rtol),
                tolerance_of("atol", atol),
                count_of("maxiter", maxiter),
                x0 is not None,
                count_of("solves_after", solves_after, least=0),
            )
            shown = None if callback is None else _showing(callback, b)
            if self._gpu >= 0 and (there := gpu_vectors("b", b, rows, self._gpu)) is not None:
                return self._solve_on_gpu(there, x0, how, shown)
            given = numbers_of("b", b, rows)
            single = self._single and given.dtype == np.float32
            if single:
                how.rtol = max(how.rtol, SINGLE_RTOL)
            if x0 is None:  # where a solve of several is interrupted, the last are not reached
                x = np.empty(given.size) if given.ndim == 1 else np.zeros(given.size)
            else:
                guess = numbers_of("x0", x0, rows)
                if guess.size != given.size:
                    raise ValueError(f"x0 has the shape {guess.shape}, and b has {given.shape}")
                x = by_columns(guess).copy()

        width = None if given.ndim == 1 else given.shape[1]
        with self._one_at_a_time:
            main = is_main_thread()
            if width is None or width == 1:
                last = [self._inner.solve(by_columns(given), x, how, shown, 1, main)]
            elif width == 0:
                last = []
            else:
                last = self._inner.solve_many(by_columns(given), x, width, how, shown, 1, main)
            self._take(last, width)
        if given.ndim == 2:
            x = x.reshape(given.shape, order="F")
            if given.flags.c_contiguous:
                x = np.ascontiguousarray(x)
        return in_kind_of(b, x.astype(np.float32) if single else x)

    def _solve_on_gpu(self, b: GpuVectors, x0: Any, how: _core.SolveOptions, shown: Any) -> Any:
        single = self._single and b.single
        if single:
            how.rtol = max(how.rtol, SINGLE_RTOL)
        if x0 is None:
            x = b.like(zero=b.width is not None)
        else:
            guess = gpu_vectors("x0", x0, self._shape[0], self._gpu)
            if guess is None:
                raise TypeError(f"x0 is a {type(x0).__name__}: it must be on the GPU, as b is")
            if guess.array.shape != b.array.shape:
                raise ValueError("x0 and b have different shapes")
            x = guess.copy()
            x.by_columns = b.by_columns
        width = b.width
        where = b.pointer, x.pointer, self._shape[0], b.stream
        with self._one_at_a_time:
            main = is_main_thread()
            if width is None or width == 1:
                last = [self._inner.solve_on_gpu(*where, how, shown, 1, main)]
            elif width == 0:
                last = []
            else:
                last = self._inner.solve_many_on_gpu(*where, width, how, shown, 1, main)
            self._take(last, width)
        return x.result(single)

    def _take(self, reports: list[_core.SolveReport], width: int | None) -> None:
        self._last = reports
        infos = [info_of(report) for report in reports]
        self._failed = any(infos)
        self.info = infos[0] if width is None else np.array(infos, dtype=np.int64)

    def _hardest(self) -> int:
        """The number of the vector that failed first, or else that took most iterations."""
        failed = [k for k, report in enumerate(self._last) if not report.converged]
        return failed[0] if failed else int(np.argmax([r.iterations for r in self._last]))

    def _tell_failure(self, x: Any, raises: bool, stacklevel: int) -> None:
        if not self._failed:
            return
        number = self._hardest()
        text = self._last[number].text
        if len(self._last) > 1:
            text = f"right-hand side {number}: {text}"
        if raises:
            raise NotConverged(text, x, self.report)
        warnings.warn(text, ConvergenceWarning, stacklevel=stacklevel)

    def update(self, A: Any) -> None:
        """Give new values to the same places.

        Parameters
        ----------
        A : array_like of shape (nnz,), or a matrix as the solver was made of
            New values in the order of ``A.data``, for a matrix in CSR; for another one, in the
            order of ``A.tocsr().data``. A matrix must have its nonzeros at the same places.

        Raises
        ------
        ValueError
            For another number of values, or other places.
        InputError
            For a value that is not finite.

        Examples
        --------
        >>> import numpy as np, trireme as tr
        >>> solver = tr.Solver(np.diag([1.0, 2.0]))
        >>> solver.update(np.array([2.0, 4.0]))
        >>> solver.solve(np.ones(2)).round(6)
        array([0.5 , 0.25])
        """
        with self._ranks.together():
            A = matrix_on_host(A) if getattr(A, "ndim", 1) == 2 else A
            if scipy.sparse.issparse(A) or getattr(A, "ndim", 1) == 2:
                matrix = matrix_of(A, square=self._ranks.comm is None)
                if matrix.shape != self._shape or matrix.pattern() != self._pattern:
                    raise ValueError(
                        "A has its nonzeros at other places, or in another order, than the matrix "
                        "of this solver: sort both (A.sort_indices()), or make a new Solver"
                    )
                values = matrix.values
            else:
                values = values_of(A)
        with self._one_at_a_time:
            self._inner.update(values)

    @property
    def report(self) -> Report:
        """Facts of the solver and of its last solve."""
        with self._one_at_a_time:
            report = Report(self._inner.facts())
            vectors = [r.as_dict() for r in self._last]
            report["last_solve"] = vectors[self._hardest()] if vectors else None
            report["vectors"] = vectors
        return report

    def aspreconditioner(self) -> Preconditioner:
        """The preconditioner as an operator of scipy, for its argument ``M``.

        Returns
        -------
        Preconditioner
            A LinearOperator of shape (n, n) that keeps this solver alive.

        Raises
        ------
        ValueError
            When it is used, unless the solver was made with the preconditioner "multigrid", "fsai",
            "spai", "ilu", "icc" or "jacobi".

        Examples
        --------
        >>> import numpy as np, trireme as tr
        >>> M = tr.Solver(np.diag([1.0, 2.0]), preconditioner="jacobi").aspreconditioner()
        >>> M.matvec(np.ones(2))
        array([1. , 0.5])
        """
        rows = self._shape[0]
        return Preconditioner((rows, rows), self._precondition, self._precondition_on_gpu, self._gpu)

    def _precondition(self, r: Vector, z: Vector) -> None:
        with self._one_at_a_time:
            self._inner.precondition(r, z)

    def _precondition_on_gpu(self, r: GpuVectors, z: GpuVectors) -> None:
        with self._one_at_a_time:
            self._inner.precondition_on_gpu(r.pointer, z.pointer, self._shape[0], r.stream)

    def close(self) -> None:
        """Free the memory of the solver, which cannot be used any more."""
        with self._one_at_a_time:
            self._open = None

    def __enter__(self) -> Solver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " (closed)" if self._open is None else ""
        return f"<trireme.Solver of {self._shape[0]} rows{state}>"


def solve(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-8,
    atol: float = 0.0,
    maxiter: int = 10000,
    callback: Callback | None = None,
    raise_on_failure: bool = False,
    **options: Any,
) -> tuple[Any, Any]:
    """Solve A x = b once.

    Parameters
    ----------
    A : sparse matrix of scipy, torch (CSR) or JAX, or 2-D array; shape (n, n)
        Real.
    b : array_like, shape (n,) or (n, k)
        One right-hand side, or k of them in columns.
    x0, rtol, atol, maxiter, callback, raise_on_failure
        As of `Solver.solve`.
    **options
        As of `Solver`: `method`, `preconditioner`, `kernel`, `comm` and others.

    Returns
    -------
    x : ndarray of the shape of b
        The solution, or what the solve has reached. It is a torch tensor or a JAX array where b
        is one.
    info : int, or ndarray of int where b has two dimensions
        0: converged. > 0: not converged, the number of iterations. < 0: breakdown.

    Raises
    ------
    ValueError, InputError, TypeError, MemoryError, DeviceError, NotConverged
        As `Solver` and `Solver.solve`.

    Warns
    -----
    ConvergenceWarning
        Where it does not converge.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> A = sp.diags_array([-1.0, 4.0, -2.0], offsets=[-1, 0, 1], shape=(50, 50))
    >>> x, info = tr.solve(A, np.ones(50), rtol=1e-10)
    >>> info, bool(np.allclose(A @ x, 1.0))
    (0, True)
    """
    with Solver(A, **options) as solver:
        x = solver._solve(b, x0, rtol, atol, maxiter, callback)
        solver._tell_failure(x, raise_on_failure, stacklevel=3)
        return x, solver.info


def multigrid(
    A: Any,
    *,
    block_size: int | None = None,
    coordinates: ArrayLike | None = None,
    near_nullspace: ArrayLike | None = None,
    kernel: str = "auto",
    device: str = "auto",
    **options: Any,
) -> Solver:
    """A solver with the preconditioner multigrid, by smoothed aggregation.

    Parameters
    ----------
    A, block_size, coordinates, near_nullspace, kernel, device
        As of `Solver`.
    **options
        What `Solver` takes as ``multigrid``: ``cycle``, ``smoother``, ``degree`` and others.

    Returns
    -------
    Solver
        Its `Solver.aspreconditioner` is an operator for ``M`` of scipy's functions.

    References
    ----------
    P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid by smoothed aggregation for second and
    fourth order elliptic problems", Computing 56 (1996), 179-196.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, scipy.sparse.linalg, trireme as tr
    >>> A = sp.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(200, 200), format="csr")
    >>> M = tr.multigrid(A, cycle="v").aspreconditioner()
    >>> x, info = scipy.sparse.linalg.cg(A, np.ones(200), M=M)
    >>> info
    0
    """
    return Solver(
        A,
        preconditioner="multigrid",
        kernel=kernel,
        device=device,
        block_size=block_size,
        coordinates=coordinates,
        near_nullspace=near_nullspace,
        multigrid=options,
    )
