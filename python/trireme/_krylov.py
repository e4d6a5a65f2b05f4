# SPDX-License-Identifier: BSD-3-Clause
"""cg, bicgstab, minres and gmres as scipy.sparse.linalg has them."""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from trireme import _core
from trireme._arrays import (
    Csr,
    Vector,
    by_columns,
    count_of,
    matrix_of,
    norm_of,
    numbers_of,
    tolerance_of,
)
from trireme._other_arrays import in_kind_of, is_a, matrix_on_host, on_host
from trireme._solver import BREAKDOWN, SINGLE_RTOL, Callback, is_main_thread, solver_options

# Gets the number of the iteration, the relative norm, and the solution where there is one.
_Shown = Callable[[int, float, Vector | None], object]
_Result = tuple[Any, int]
_Function = TypeVar("_Function", bound=Callable[..., _Result])


def _in_the_kind_of_b(function: _Function) -> _Function:
    """Gives `function` arrays of SciPy and NumPy, and the caller x in the kind of b."""

    @functools.wraps(function)
    def called(A: Any, b: Any, x0: Any = None, **options: Any) -> _Result:
        if is_a(b, "cupy", "ndarray"):
            name, reason = function.__name__, _reason_for_others(A, b, x0, options.get("M"))
            if reason is not None:
                _warn(name, f"cupyx.scipy.sparse.linalg.{name}", reason, stacklevel=3)
                others = importlib.import_module("cupyx.scipy.sparse.linalg")
                return getattr(others, name)(A, b, x0, **options)  # type: ignore[no-any-return]
        if (callback := options.get("callback")) is not None and callable(callback):

            def shown(now: Any) -> object:
                return callback(in_kind_of(b, now) if isinstance(now, np.ndarray) else now)

            options["callback"] = shown
        vectors = on_host("b", b), on_host("x0", x0)
        x, info = function(matrix_on_host(A), *vectors, **options)
        return in_kind_of(b, x), info

    return cast(_Function, called)


def _is_complex(array: Any) -> bool:
    dtype = getattr(array, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind == "c"


def _reason_for_others(A: Any, b: Any, x0: Any, M: Any) -> str | None:
    """Why another library must solve this; None: Trireme does."""
    if M is not None and not isinstance(M, str):
        return f"M is a {type(M).__name__}, and Trireme takes the name of a preconditioner"
    if any(is_a(A, library, "LinearOperator") for library in ("scipy", "cupyx")):
        return "A is a LinearOperator, and Trireme needs the entries of the matrix"
    if _is_complex(A) or _is_complex(b) or _is_complex(x0):
        return "the system is complex, and Trireme solves real ones"
    if M is None and hasattr(A, "psolve"):
        return "A has psolve, and Trireme takes the name of a preconditioner"
    return None


def _warn(name: str, other: str, reason: str, stacklevel: int) -> None:
    warnings.warn(f"trireme.{name}: {reason}: {other} solves", RuntimeWarning, stacklevel + 1)


def _left_to_scipy(name: str, A: Any, b: Any, x0: Any, M: Any) -> bool:
    """Whether scipy must solve this. Then a warning says why."""
    reason = _reason_for_others(A, b, x0, M)
    if reason is not None:
        _warn(name, f"scipy.sparse.linalg.{name}", reason, stacklevel=4)
    return reason is not None


def _by_scipy(name: str, A: Any, b: Any, x0: Any, rtol: Any, **options: Any) -> _Result:
    """What scipy.sparse.linalg.`name` returns. SciPy before 1.12 calls the tolerance `tol`."""
    function = getattr(scipy.sparse.linalg, name)
    options["rtol" if "rtol" in inspect.signature(function).parameters else "tol"] = rtol
    return function(A, b, x0, **options)  # type: ignore[no-any-return]


class _System:
    """A x = b with its start and its tolerances."""

    def __init__(self, A: Csr, b: Any, x0: Any, rtol: Any, atol: Any) -> None:
        self.matrix = A
        self.rows = A.shape[0]
        self.b, given = self._vector("b", b)
        self.single = A.single and given == np.float32
        self.starts_from_mb = isinstance(x0, str)
        if isinstance(x0, str) and x0 != "Mb":
            raise ValueError(f"x0 is {x0!r}: the only word that it may be is 'Mb'")
        self.start = None
        if x0 is not None and not self.starts_from_mb:
            self.start, _ = self._vector("x0", x0)
        self.rtol = tolerance_of("rtol", rtol)
        if self.single:
            self.rtol = max(self.rtol, SINGLE_RTOL)
        self.atol = tolerance_of("atol", atol)

    def _vector(self, name: str, array: Any) -> tuple[Vector, np.dtype[Any]]:
        numbers = numbers_of(name, array, self.rows)
        if numbers.size != self.rows:
            raise ValueError(
                f"{name} has the shape {numbers.shape}: it must be ({self.rows},) or "
                f"({self.rows}, 1)"
            )
        return by_columns(numbers), numbers.dtype

    def result(self, x: Vector) -> NDArray[Any]:
        return x.astype(np.float32) if self.single else x

    def at_once(self) -> NDArray[Any] | None:
        """The solution, where it is known without an iteration."""
        size = norm_of(self.b)
        if size == 0.0:
            return self.result(np.zeros(self.rows))
        tolerance = max(self.rtol * size, self.atol)
        if not (np.isfinite(size) and tolerance >= size):
            return None
        if self.start is not None:
            residual = self.b - self.matrix.as_scipy() @ self.start
            if norm_of(residual) <= tolerance:
                return self.result(self.start.copy())
        return self.result(np.zeros(self.rows))

    def prepare(self, method: str, M: str | None, on_cpu: bool, restart: int = 30) -> None:
        """Makes the solver. Solutions of single iterations exist on CPUs only."""
        # The tolerance is that of the system as it stands, and so is each residual of a callback.
        words = {
            "method": method,
            "preconditioner": M or "none",
            "scaling": "none",
            "device": "cpu" if on_cpu else "auto",
        }
        options = solver_options(self.matrix, words, restart=restart)
        matrix = self.matrix
        self.core = _core.Solver(
            *matrix.shape, matrix.row_ptr, matrix.col_idx, matrix.values, options
        )
        self.x = np.zeros(self.rows)
        if self.starts_from_mb:
            if options.preconditioner in ("none", "auto"):
                self.x[:] = self.b
            else:
                self.core.precondition(self.b, self.x)
        elif self.start is not None:
            self.x[:] = self.start
        self.has_guess = self.starts_from_mb or self.start is not None

    def solve(self, most: int, shown: _Shown | None, solution_every: int) -> _core.SolveReport:
        """Goes on from x with at most so many iterations."""
        how = _core.SolveOptions()
        how.rtol, how.atol, how.max_iterations = self.rtol, self.atol, most
        how.guess = self.has_guess
        how.in_every_row = how.drop_worse_guess = False
        report = self.core.solve(self.b, self.x, how, shown, solution_every, is_main_thread())
        self.has_guess = True
        return report


def _showing_solutions(callback: Callback | None) -> _Shown | None:
    if callback is None:
        return None

    def shown(number: int, norm: float, x: Vector | None) -> None:
        if x is not None:
            callback(x)

    return shown


def _showing_norms(callback: Callable[[Any], object] | None) -> _Shown | None:
    if callback is None:
        return None

    def shown(number: int, norm: float, x: Vector | None) -> None:
        callback(np.float64(norm))

    return shown


def _checked_atol(name: str, atol: Any) -> Any:
    if atol is None or isinstance(atol, str):
        raise ValueError(f"{name}: atol is {atol!r}: it must be a number of at least 0")
    return atol


@_in_the_kind_of_b
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callback | None = None,
) -> _Result:
    """Solve A x = b by conjugate gradients, for a symmetric positive definite A.

    The arguments and defaults are those of ``scipy.sparse.linalg.cg``.

    Parameters
    ----------
    A : sparse matrix of scipy, torch (CSR) or JAX, or 2-D array; shape (n, n)
        A LinearOperator, or a complex matrix, is left to scipy with a RuntimeWarning.
    b : array_like, shape (n,) or (n, 1)
        Right-hand side.
    x0 : array_like of the shape of b, or "Mb", optional
        Initial guess. "Mb" is the preconditioner applied to b: M is None, "auto" (where b itself
        is taken), "jacobi", "multigrid", "fsai", "spai", "ilu" or "icc" then.
    rtol, atol : float
        x is converged when ``norm(b - A @ x) <= max(rtol * norm(b), atol)``; one of the two must
        be above 0. Where A and b are float32, rtol is at least 1e-6.
    maxiter : int, optional
        Most iterations; 10 n by default.
    M : str, optional
        One of `preconditioners`, or "auto". None stands for no preconditioner. A matrix or a
        LinearOperator is left to scipy with a RuntimeWarning.
    callback : callable, optional
        Called as ``callback(xk)`` after each iteration, with a new array of shape (n,). The solve
        runs on the CPU then.

    Returns
    -------
    x : ndarray, shape (n,)
        float32 where A and b are float32, otherwise float64. It is a torch tensor or a JAX array
        where b is one.
    info : int
        0: converged. > 0: not converged, the number of iterations.

    Raises
    ------
    ValueError, InputError, TypeError, MemoryError, DeviceError
        As `Solver` and `Solver.solve`.

    References
    ----------
    M. R. Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems",
    J. Res. Nat. Bur. Standards 49 (1952), 409-436.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> A = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
    >>> x, info = tr.cg(A, np.ones(100), M="jacobi")
    >>> info
    0
    """
    if _left_to_scipy("cg", A, b, x0, M):
        return _by_scipy("cg", A, b, x0, rtol, atol=atol, maxiter=maxiter, M=M, callback=callback)
    system = _System(matrix_of(A), b, x0, rtol, _checked_atol("cg", atol))
    most = 10 * system.rows if maxiter is None else count_of("maxiter", maxiter)
    if (known := system.at_once()) is not None:
        return known, 0
    system.prepare("cg", M, on_cpu=callback is not None)
    report = system.solve(most, _showing_solutions(callback), 1)
    return system.result(system.x), 0 if report.status == "converged" else max(1, report.iterations)


@_in_the_kind_of_b
def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callback | None = None,
) -> _Result:
    """Solve A x = b by the stabilised bi-conjugate gradients, for any A.

    The arguments and defaults are those of ``scipy.sparse.linalg.bicgstab``.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, M, callback
        As of `cg`.

    Returns
    -------
    x : ndarray, shape (n,)
        float32 where A and b are float32, otherwise float64. It is a torch tensor or a JAX array
        where b is one.
    info : int
        0: converged. > 0: not converged, the number of iterations. < 0: breakdown.

    Raises
    ------
    ValueError, InputError, TypeError, MemoryError, DeviceError
        As `Solver` and `Solver.solve`.

    References
    ----------
    H. A. van der Vorst, "Bi-CGSTAB: A fast and smoothly converging variant of Bi-CG for the
    solution of nonsymmetric linear systems", SIAM J. Sci. Stat. Comput. 13 (1992), 631-644.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> A = sp.diags_array([-1.0, 4.0, -2.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
    >>> x, info = tr.bicgstab(A, np.ones(100), rtol=1e-10)
    >>> info, bool(np.allclose(A @ x, 1.0))
    (0, True)
    """
    if _left_to_scipy("bicgstab", A, b, x0, M):
        return _by_scipy(
            "bicgstab", A, b, x0, rtol, atol=atol, maxiter=maxiter, M=M, callback=callback
        )
    system = _System(matrix_of(A), b, x0, rtol, _checked_atol("bicgstab", atol))
    most = 10 * system.rows if maxiter is None else count_of("maxiter", maxiter)
    if (known := system.at_once()) is not None:
        return known, 0
    system.prepare("bicgstab", M, on_cpu=callback is not None)
    report = system.solve(most, _showing_solutions(callback), 1)
    return system.result(system.x), _info_with_breakdown(report)


def _info_with_breakdown(report: _core.SolveReport) -> int:
    if report.status == "breakdown":
        return BREAKDOWN
    return 0 if report.status == "converged" else max(1, report.iterations)


def _with_shift(matrix: Csr, shift: float) -> Csr:
    shifted = matrix.as_scipy() - shift * scipy.sparse.eye_array(matrix.shape[0], format="csr")
    return matrix_of(shifted)


def _check_symmetric(matrix: Csr) -> None:
    """Raises where the difference of A and its transpose is larger than scipy allows."""
    A = matrix.as_scipy()
    largest = float(np.max(np.abs(matrix.values), initial=0.0))
    difference = abs(A - A.T)
    if difference.nnz and difference.max() > np.finfo(np.float64).eps ** (1 / 3) * largest:
        raise ValueError("A is a non-symmetric matrix: minres needs a symmetric one")


@_in_the_kind_of_b
def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    shift: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callback | None = None,
    show: bool = False,
    check: bool = False,
) -> _Result:
    """Solve (A - shift I) x = b by minimal residuals, for a symmetric A, definite or not.

    The arguments and defaults are those of ``scipy.sparse.linalg.minres``, but the test is another
    one: x is converged when ``norm(b - (A - shift I) x) <= rtol * norm(b)``. scipy compares the
    norm of the residual with ``rtol * norm(A) * norm(x)``.

    Parameters
    ----------
    A, b, x0, rtol, M, callback
        As of `cg`. A preconditioner must be symmetric positive definite.
    shift : float
        The multiple of the identity that is subtracted from A.
    maxiter : int, optional
        Most iterations; 5 n by default.
    show : bool
        Print a line per iteration.
    check : bool
        Raise a ValueError where A is not symmetric.

    Returns
    -------
    x : ndarray, shape (n,)
        float32 where A and b are float32, otherwise float64. It is a torch tensor or a JAX array
        where b is one.
    info : int
        0: converged. > 0: not converged, the number of iterations. < 0: breakdown.

    Raises
    ------
    ValueError, InputError, TypeError, MemoryError, DeviceError
        As `Solver` and `Solver.solve`.

    References
    ----------
    C. C. Paige, M. A. Saunders, "Solution of sparse indefinite systems of linear equations",
    SIAM J. Numer. Anal. 12 (1975), 617-629.

    Examples
    --------
    >>> import numpy as np, trireme as tr
    >>> x, info = tr.minres(np.diag([1.0, -2.0, 4.0]), np.ones(3))
    >>> info
    0
    >>> x.round(4)
    array([ 1.  , -0.5 ,  0.25])
    """
    if _left_to_scipy("minres", A, b, x0, M):
        return _by_scipy(
            "minres",
            A,
            b,
            x0,
            rtol,
            shift=shift,
            maxiter=maxiter,
            M=M,
            callback=callback,
            show=show,
            check=check,
        )
    matrix = matrix_of(A)
    if check:
        _check_symmetric(matrix)
    if shift != 0:
        single = matrix.single
        matrix = _with_shift(matrix, float(shift))
        if single:
            matrix = Csr(**{**vars(matrix), "single": True})
    system = _System(matrix, b, x0, rtol, 0.0)
    most = 5 * system.rows if maxiter is None else count_of("maxiter", maxiter)
    if (known := system.at_once()) is not None:
        return known, 0

    shown = _showing_solutions(callback)
    if show:
        print(f"minres: n = {system.rows}, shift = {shift:g}, rtol = {system.rtol:g}")
        told = shown

        def shown(number: int, norm: float, x: Vector | None) -> None:
            print(f"{number:6d} {norm:12.5e}")
            if told is not None:
                told(number, norm, x)

    system.prepare("minres", M, on_cpu=callback is not None)
    report = system.solve(most, shown, 0 if callback is None else 1)
    if show:
        print(f"minres: {report.text}")
    return system.result(system.x), _info_with_breakdown(report)


@_in_the_kind_of_b
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], object] | None = None,
    callback_type: str | None = None,
) -> _Result:
    """Solve A x = b by generalised minimal residuals with restarts, for any A.

    The arguments and defaults are those of ``scipy.sparse.linalg.gmres``.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As of `cg`.
    restart : int, optional
        Iterations between restarts; min(20, n) by default.
    maxiter : int, optional
        Most cycles of `restart` iterations; 10 n by default. Most iterations where
        `callback_type` is "legacy".
    callback : callable, optional
        Called with what `callback_type` says.
    callback_type : {"x", "pr_norm", "legacy"}, optional
        "x": the solution, after each cycle. "pr_norm": the norm of the residual over that of b,
        after each iteration. "legacy" (the default): as "pr_norm", and `maxiter` counts
        iterations. A callback without this argument gives a DeprecationWarning, as in scipy.

    Returns
    -------
    x : ndarray, shape (n,)
        float32 where A and b are float32, otherwise float64. It is a torch tensor or a JAX array
        where b is one.
    info : int
        0: converged. > 0: not converged, the number of cycles (of iterations for "legacy").

    Raises
    ------
    ValueError, InputError, TypeError, MemoryError, DeviceError
        As `Solver` and `Solver.solve`.

    References
    ----------
    Y. Saad, M. H. Schultz, "GMRES: a generalized minimal residual algorithm for solving
    nonsymmetric linear systems", SIAM J. Sci. Stat. Comput. 7 (1986), 856-869.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, trireme as tr
    >>> A = sp.diags_array([-1.0, 4.0, -2.0], offsets=[-1, 0, 1], shape=(100, 100), format="csr")
    >>> norms = []
    >>> x, info = tr.gmres(A, np.ones(100), callback=norms.append, callback_type="pr_norm")
    >>> info, bool(norms[-1] <= 1e-5)
    (0, True)
    """
    if _left_to_scipy("gmres", A, b, x0, M):
        return _by_scipy(
            "gmres",
            A,
            b,
            x0,
            rtol,
            atol=atol,
            restart=restart,
            maxiter=maxiter,
            M=M,
            callback=callback,
            callback_type=callback_type,
        )
    if callback is not None and callback_type is None:
        warnings.warn(
            "trireme.gmres called without specifying `callback_type`: 'legacy' is taken, as scipy "
            "does today; say 'legacy', 'pr_norm' or 'x'",
            DeprecationWarning,
            stacklevel=3,
        )
    if callback_type not in (None, "x", "pr_norm", "legacy"):
        raise ValueError(f"callback_type is {callback_type!r}: it must be x, pr_norm or legacy")
    counts_iterations = callback is not None and callback_type in (None, "legacy")

    system = _System(matrix_of(A), b, x0, rtol, _checked_atol("gmres", atol))
    if restart is None:
        restart = 20
    restart = max(1, min(count_of("restart", restart), system.rows))
    most = 10 * system.rows if maxiter is None else count_of("maxiter", maxiter)
    if (known := system.at_once()) is not None:
        return known, 0

    system.prepare("gmres", M, on_cpu=False, restart=restart)
    if callback is not None and callback_type == "x":
        return _cycle_by_cycle(system, most, restart, callback)
    per_cycle = 1 if counts_iterations else restart
    report = system.solve(min(most * per_cycle, 2**62), _showing_norms(callback), 0)
    x = system.result(system.x)
    if report.status == "converged":
        return x, 0
    return x, max(1, -(-report.iterations // per_cycle))


def _cycle_by_cycle(system: _System, most: int, restart: int, callback: Callback) -> _Result:
    """GMRES that shows the solution whenever it restarts."""
    for cycle in range(1, most + 1):
        report = system.solve(restart, None, 0)
        callback(system.x.copy())
        if report.status == "converged":
            return system.result(system.x), 0
        if report.status == "breakdown" or report.iterations < restart:
            break
    return system.result(system.x), cycle
