#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A signal ends solve soon, whatever work remains, with exit code 5, a report and a solution.

usage: stop_test.py SOURCE_FOLDER SOLVE PROBLEM RANKS [mpiexec and its flags ...]
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import jsonschema
import numpy as np

from ranks_of import ranks_of

SOURCE, SOLVE, PROBLEM = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
LAUNCH = sys.argv[5:]
PATIENCE = 60.0  # seconds within which even a busy machine begins its first solve
LIMIT = 20.0  # seconds from the signal to the end of the job
FOR_HOURS = 100_000_000  # a number of repeats that takes hours


class Stops(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-stop-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def problem(self, n, columns):
        subprocess.run([PROBLEM, "generate", "poisson2d", self.folder / "a.h5", "--n", str(n)], check=True,
                       capture_output=True)
        with h5py.File(self.folder / "a.h5", "a") as file:
            if "b" in file:
                del file["b"]
            file["b"] = np.random.default_rng(1).standard_normal((n * n, columns))

    @contextlib.contextmanager
    def begun(self, case):
        """Starts solve and yields its process when the first solve has begun."""
        (self.folder / "case.yaml").write_text("problem: {file: a.h5, rhs: /b}\ndevice: cpu\n" + case)
        printed = self.folder / "printed"
        with printed.open("w") as out:
            child = subprocess.Popen([*LAUNCH, SOLVE, "--config", "case.yaml", "--", "-ksp_view_pre"],
                                     cwd=self.folder, stdout=out, stderr=subprocess.PIPE, text=True)
        try:
            begin = time.monotonic()
            while "KSP Object" not in printed.read_text():
                self.assertLess(time.monotonic() - begin, PATIENCE, "no solve began")
                self.assertIsNone(child.poll(), "ended by itself")
                time.sleep(0.02)
            yield child
        except BaseException:
            for process in [*ranks_of(child.pid), child.pid]:
                os.kill(process, signal.SIGKILL)
            raise

    def stopped(self, case, *signals, after=0.0):
        """Sends the signals to one rank, `after` seconds after the beginning of the first solve."""
        with self.begun(case) as child:
            time.sleep(after)
            rank = ranks_of(child.pid)[-1]
            for number in signals:
                with contextlib.suppress(ProcessLookupError):  # the rank has ended
                    os.kill(rank, number)
                time.sleep(0.01)
            _, errors = child.communicate(timeout=LIMIT)
        self.assertEqual(child.returncode, 5, errors)
        report = json.loads((self.folder / "results/report.json").read_text())
        jsonschema.validate(report, json.loads((SOURCE / "configs/report.schema.json").read_text()))
        self.assertIn("signal", errors)
        return report, errors

    def test_in_a_long_solve_with_more_columns_and_kernels_to_come(self):
        self.problem(700, 3)
        for engine in ("resident", "petsc"):
            report, errors = self.stopped(f"solver: {{method: cg, rtol: 1e-13, engine: {engine}}}\nrepeat: 100\n"
                                          "kernel: [csr, albus]\n", signal.SIGTERM)
            run, = report["runs"]
            self.assertEqual(run["engine"], engine)
            self.assertIn("stopped by a signal", run["reason"])
            self.assertLess(len(run["solve_seconds"]), 300)
            self.assertEqual(report["not_run"], ["albus"])
            self.assertIn("not run after a signal: albus", errors)
            with h5py.File(self.folder / "results/solution-csr.h5") as file:
                self.assertEqual(file["x"].shape[0], 700 * 700)
            shutil.rmtree(self.folder / "results")

    def test_anywhere_in_many_short_solves(self):
        self.problem(20, 2)
        for delay in (0, 0.03, 0.07, 0.2):
            report, _ = self.stopped(f"kernel: [csr, albus]\nrepeat: {FOR_HOURS}\n",
                                     signal.SIGTERM, signal.SIGTERM, after=delay)
            self.assertEqual(len(report["runs"]), 1)
            self.assertIn("stopped by a signal", report["runs"][0]["reason"])
            shutil.rmtree(self.folder / "results")

    def test_by_ctrl_c(self):
        self.problem(20, 1)
        self.stopped(f"repeat: {FOR_HOURS}\n", signal.SIGINT)

    def test_a_later_sigterm_ends_what_does_not_look(self):
        if LAUNCH:
            self.skipTest("for mpirun, whose exit code is its own")
        self.problem(100, 1)
        with self.begun("solver: {method: chebyshev, max_iterations: 100000000}\n"
                        "petsc: {ksp_norm_type: none}\n") as child:
            child.send_signal(signal.SIGTERM)
            time.sleep(5)
            self.assertIsNone(child.poll(), "the first signal must not end the process")
            child.send_signal(signal.SIGTERM)
            child.communicate(timeout=LIMIT)
        self.assertEqual(child.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
