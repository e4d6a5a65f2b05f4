# SPDX-License-Identifier: BSD-3-Clause
"""Trireme solves large sparse linear systems A x = b by Krylov methods, on CPUs or on one GPU.

Three lines solve a system:

>>> import numpy as np, scipy.sparse as sp, trireme as tr
>>> A = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(1000, 1000))
>>> x, info = tr.solve(A, np.ones(1000))

``info`` is 0, so that x is a solution:

>>> info
0
>>> bool(np.linalg.norm(np.ones(1000) - A @ x) <= 1e-8 * np.linalg.norm(np.ones(1000)))
True

`Solver` keeps a matrix for many right-hand sides and for new values. `cg`, `bicgstab`, `minres`
and `gmres` are called as those of ``scipy.sparse.linalg``.
"""

from trireme import _core
from trireme._errors import ConvergenceWarning, DeviceError, InputError, NotConverged
from trireme._krylov import bicgstab, cg, gmres, minres
from trireme._lists import has_gpu, kernels, methods, preconditioners
from trireme._operators import MatrixOperator, Preconditioner, aslinearoperator
from trireme._report import Report
from trireme._solver import Solver, multigrid, solve

__version__: str = _core.version

__all__ = [
    "ConvergenceWarning",
    "DeviceError",
    "InputError",
    "MatrixOperator",
    "NotConverged",
    "Preconditioner",
    "Report",
    "Solver",
    "__version__",
    "aslinearoperator",
    "bicgstab",
    "cg",
    "gmres",
    "has_gpu",
    "kernels",
    "methods",
    "minres",
    "multigrid",
    "preconditioners",
    "solve",
]
