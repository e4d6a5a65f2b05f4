# SPDX-License-Identifier: BSD-3-Clause
"""Solvers on several processes, where Trireme was built with MPI and mpi4py is there."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import trireme as tr

MPIRUN = shutil.which("mpirun")


class Comm:
    """What is refused without being touched."""


def test_only_communicators_of_mpi4py_are_taken():
    with pytest.raises(TypeError, match="comm is a Comm: it must be a communicator of mpi4py"):
        tr.Solver(np.eye(3), comm=Comm())


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_processes_solve_together(ranks):
    pytest.importorskip("mpi4py")
    if not tr._core.has_mpi:
        pytest.skip("built without MPI (cmake.define.TRIREME_MPI=ON builds with it)")
    if MPIRUN is None:
        pytest.skip("no mpirun")
    script = pathlib.Path(__file__).with_name("ranks.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), sys.executable, script],
        env=environment, capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is done") == ranks
