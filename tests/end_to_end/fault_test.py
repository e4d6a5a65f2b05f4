#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of three is killed or gets no more memory. The job ends soon, says why, and leaves no partly
written file.

usage: fault_test.py SOLVE PROBLEM FAIL_AT_LIBRARY POINTS mpiexec and its flags ...
POINTS is the number of allocations per rank that are made to fail. They are drawn at random from a seed,
which is printed.
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

SOLVE, PROBLEM, LIBRARY, POINTS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
MPIEXEC = sys.argv[5:]
RANKS = 3
PATIENCE = 10.0  # seconds from a failure to the end of the job
GIVEN_UP = 60.0  # seconds after which the job counts as hanging
SEED = int(os.environ.get("TRIREME_SEED", random.randrange(1 << 31)))

# The signal handler of Open MPI prints this; line 1 of its stack is the function that failed.
LIBRARY_DIED = re.compile(r"Segmentation fault.*\[ 1\] \S*/lib", re.DOTALL)

# Each part of a run is recognised by a call of a library function: its name and the call's number.
MATRIX = {"reading": "H5Dget_offset:2", "building": "MatShellSetOperation:1", "setting up": "KSPSetUp:1",
          "solving": "KSPMonitor:5"}
WRITING = {0: ["H5Dwrite:1", "rename:1", "rename:2"], 1: ["MPI_Send:2"], 2: ["MPI_Send:2"]}


class FaultCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = pathlib.Path(tempfile.mkdtemp(prefix="trireme-fault-"))
        cls.addClassCleanup(shutil.rmtree, cls.inputs)
        subprocess.run([PROBLEM, "generate", "poisson3d", cls.inputs / "poisson.h5", "-n", "24", "--rhs", "from-ones"],
                       check=True, capture_output=True)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.inputs))
        self.results = self.folder / "results"
        (self.folder / "case.yaml").write_text(
            f"problem: {{file: {self.inputs / 'poisson.h5'}, rhs: /b, x_exact: /x_exact}}\n"
            "solver: {method: cg}\nkernel: csr\ndevice: cpu\nreport: {formats: [json, html, csv]}\n")

    def run_solve(self, victim, *arguments, **environment):
        """Runs three ranks. The rank `victim` has `environment` and the preloaded library."""
        command = []
        for rank in range(RANKS):
            faults = [f"{name}={value}" for name, value in environment.items()]
            preload = ["env", f"LD_PRELOAD={LIBRARY}", *faults] if rank == victim else []
            command += [":"] * (rank > 0) + ["-n", "1", *preload, SOLVE, "--config", "case.yaml", *arguments]
        begin = time.monotonic()
        try:
            done = subprocess.run([*MPIEXEC, *command], cwd=self.folder, text=True, capture_output=True,
                                  timeout=GIVEN_UP, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            self.fail(f"hangs: rank {victim}, {environment}")
        done.seconds = time.monotonic() - begin
        return done

    def assert_only_whole_files(self):
        for path in self.results.glob("*") if self.results.exists() else []:
            if path.name.startswith("."):
                self.assertTrue(path.name.endswith(".tmp"), path)
            elif path.suffix == ".h5":
                with h5py.File(path) as file:
                    self.assertEqual(file["x"].shape, (24**3,))
                    np.testing.assert_allclose(file["x"][:], 1, rtol=1e-5)
                    self.assertIn("reason", file.attrs)
            elif path.suffix == ".json":
                self.assertTrue(json.loads(path.read_text())["runs"][0]["converged"])
            else:
                self.assertTrue(path.read_text().rstrip().endswith("</html>") or path.name == "history.csv")


class Killed(FaultCase):
    def test_a_rank_that_is_killed_ends_the_job_and_leaves_whole_files(self):
        alone = self.run_solve(None)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for rank in range(RANKS):
            for place in [*MATRIX.values(), *WRITING[rank]]:
                with self.subTest(rank=rank, place=place):
                    shutil.rmtree(self.results, ignore_errors=True)
                    done = self.run_solve(rank, TRIREME_KILL_AT=place)
                    self.assertNotEqual(done.returncode, 0, done.stdout)
                    self.assertLess(done.seconds, alone.seconds + PATIENCE)
                    self.assertIn("signal 9", done.stderr)  # the rank reached that place
                    self.assert_only_whole_files()
                    self.assertFalse((self.results / "report.json").exists())


class WithoutMemory(FaultCase):
    # The parts are in the cache: PT-Scotch does not survive without memory, and is not begun where
    # it is known to be missing.
    def test_a_rank_that_gets_no_memory_while_rows_move_ends_all_with_a_line_and_exit_code_4(self):
        with (self.folder / "case.yaml").open("a") as case:
            case.write("distribution: graph\n")
        self.assert_ends_without_memory(("--cache", "parts"))

    def test_a_rank_that_gets_no_memory_ends_all_with_a_line_and_exit_code_4(self):
        for preconditioner in ("jacobi", "gamg", "multigrid"):
            self.assert_ends_without_memory(("--set", f"solver.preconditioner={preconditioner}"))

    def assert_ends_without_memory(self, arguments):
        print(f"TRIREME_SEED={SEED}", file=sys.stderr)
        draw = random.Random(SEED)
        for rank in range(RANKS):
            counted = self.folder / f"allocations-{rank}"
            for _ in range(2):  # the second one finds in the cache what the first one has left there
                alone = self.run_solve(rank, *arguments, TRIREME_COUNT_INTO=counted)
                self.assertEqual(alone.returncode, 0, alone.stderr)
            allocations = int(counted.read_text())
            for _ in range(POINTS):
                at = draw.randint(2, allocations)  # the first allocation is the reserve for the error line
                with self.subTest(rank=rank, arguments=arguments, at=at, of=allocations):
                    shutil.rmtree(self.results, ignore_errors=True)
                    done = self.run_solve(rank, *arguments, TRIREME_NO_MEMORY_AT=at)
                    self.assertLess(done.seconds, alone.seconds + PATIENCE)
                    self.assert_only_whole_files()
                    if done.returncode == 0:  # the memory was not needed
                        self.assertTrue((self.results / "solution.h5").exists())
                        continue
                    if LIBRARY_DIED.search(done.stderr):  # HDF5 uses memory that it did not get
                        continue
                    lines = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
                    self.assertEqual((done.returncode, len(lines)), (4, 1), done.stderr)
                    self.assertIn("memory", lines[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
