# SPDX-License-Identifier: BSD-3-Clause
"""scipy's own tests of cg, bicgstab, minres and gmres, run with those of trireme.

The files are read from the installed scipy. While they are loaded, the four names stand for ours
in scipy.sparse.linalg._isolve. conftest.py leaves out the tests of other solvers, and marks
DIFFERENCES.
"""

from __future__ import annotations

import importlib.util
import pathlib
from unittest import mock

import pytest
import scipy.sparse.linalg._isolve as isolve

import trireme as tr

# Systems that ours leave to scipy are told by a warning each.
pytestmark = pytest.mark.filterwarnings("ignore:trireme:RuntimeWarning")

OURS = (tr.cg, tr.bicgstab, tr.minres, tr.gmres)
FOLDER = pathlib.Path(isolve.__file__).parent / "tests"

# The name of each test of scipy that ends otherwise with our functions, and why.
DIFFERENCES: dict[str, str] = {}


def is_ours(item: pytest.Item) -> bool:
    """Whether a test concerns one of OURS: by its parameter, or by the lack of one."""
    if not isinstance(item, pytest.Function) or item.originalname in ("test_show",):
        return False
    if item.cls is not None:
        return item.cls.__name__ == "TestGMRES"
    params = getattr(item, "callspec", None) and item.callspec.params
    for value in (params or {}).values():
        solver = getattr(value, "solver", value)
        if callable(solver):
            return solver in OURS
    return True


def load(name: str) -> dict[str, object]:
    path = FOLDER / f"{name}.py"
    if not path.exists():
        pytest.skip(f"this scipy has no {path}", allow_module_level=True)
    spec = importlib.util.spec_from_file_location(f"scipy_{name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with mock.patch.multiple(isolve, **{f.__name__: f for f in OURS}):
        spec.loader.exec_module(module)
    if hasattr(module, "_SOLVERS"):
        module._SOLVERS[:] = OURS
    wanted = ("test_", "Test")
    return {
        key: value
        for key, value in vars(module).items()
        if key.startswith(wanted) or key in ("solver", "case")
    }


globals().update(load("test_iterative"))
globals().update(load("test_minres"))
