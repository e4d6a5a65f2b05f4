# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions and the warning of Trireme. The extension looks them up here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trireme._report import Report


class InputError(ValueError):
    """The matrix or the right-hand side has a fault, such as a value that is not finite."""


class DeviceError(RuntimeError):
    """A device that was asked for is not there, or fails."""


class NotConverged(RuntimeError):
    """A solve with ``raise_on_failure=True`` has not converged.

    Attributes
    ----------
    x : ndarray, or the kind of array that b is
        What the solve has reached, in the shape of b.
    report : Report
        The report of the solver after this solve.

    Examples
    --------
    >>> import numpy as np, trireme as tr
    >>> A = np.diag(np.arange(1.0, 101.0))
    >>> try:
    ...     tr.solve(A, np.ones(100), method="cg", preconditioner="none", scaling="none",
    ...              maxiter=3, raise_on_failure=True)
    ... except tr.NotConverged as failure:
    ...     failure.report["last_solve"]["iterations"]
    3
    """

    x: Any
    report: Report

    def __init__(self, text: str, x: Any, report: Report) -> None:
        super().__init__(text)
        self.x = x
        self.report = report


class ConvergenceWarning(UserWarning):
    """`trireme.solve` or `Solver.solve` has not converged."""
