# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the Python package share."""

from __future__ import annotations

import os

# Threads that spin while they wait make tests of small systems slow on a machine with other work.
# OpenMP reads this when trireme is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
import scipy.sparse as sp


def poisson(side: int, dimensions: int = 2) -> sp.csr_array:
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    matrix = line
    for _ in range(dimensions - 1):
        matrix = sp.kronsum(matrix, line)
    return sp.csr_array(matrix)


def convection(n: int) -> sp.csr_array:
    return sp.csr_array(sp.diags_array([-1.5, 4.0, -0.5], offsets=[-1, 0, 1], shape=(n, n)))


def norm(vector: np.ndarray) -> float:
    """The Euclidean norm, also of vectors whose squares overflow or underflow."""
    largest = np.max(np.abs(vector), initial=0.0)
    return float(largest * np.linalg.norm(vector / largest)) if largest else 0.0


def relative_residual(A: object, x: np.ndarray, b: np.ndarray) -> float:
    """||b - A x|| / ||b||, by scipy's product."""
    return norm(b - sp.csr_array(A) @ x) / norm(b)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


def pytest_collection_modifyitems(config, items):
    """Of scipy's tests: leaves out other solvers than ours, and marks the known differences."""
    kept, left_out = [], []
    for item in items:
        keep = getattr(item.module, "is_ours", lambda _: True)(item)
        (kept if keep else left_out).append(item)
        if reason := getattr(item.module, "DIFFERENCES", {}).get(item.name):
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
