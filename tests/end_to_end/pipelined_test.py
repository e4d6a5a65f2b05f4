#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""solve with method pipelined_cg, and the variant of CG that ranks of CPUs take by measurement.

usage: pipelined_test.py SOURCE SOLVE PROBLEM RANKS [mpirun and its flags ...]
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import jsonschema

SOURCE, SOLVE, RANKS, LAUNCH = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[4]), sys.argv[5:]
SCHEMA = json.loads((SOURCE / "configs" / "report.schema.json").read_text())
PATIENCE = 90.0  # seconds after which a run counts as hanging
CHOSEN = "CG runs as "


class Pipelined(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-pipelined-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.case("problem: {generate: poisson3d, n: 14, rhs: random}")

    def case(self, problem):
        (self.folder / "case.yaml").write_text(problem + "\ndevice: cpu\nkernel: csr\n")

    def run_solve(self, *options, code=0):
        done = subprocess.run([*LAUNCH, SOLVE, "--config", "case.yaml", *options], cwd=self.folder, text=True,
                              capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def report(self, *options, code=0):
        self.run_solve(*options, code=code)
        report = json.loads((self.folder / "results" / "report.json").read_text())
        jsonschema.validate(report, SCHEMA)
        run, = report["runs"]
        return run

    def pipelined(self, *options, code=0):
        return self.report("--set", "solver.method=pipelined_cg", *options, code=code)

    def chosen(self, run):
        return [note for note in run["notes"] if note.startswith(CHOSEN)]

    def test_solves_as_cg_does(self):
        for preconditioner, precision in (("none", "double"), ("jacobi", "mixed"), ("multigrid", "double")):
            settings = ("--set", f"solver.preconditioner={preconditioner}", "--set", f"precision={precision}")
            with self.subTest(preconditioner=preconditioner, precision=precision):
                cg, run = self.report(*settings), self.pipelined(*settings)
                self.assertEqual(run["method"], "pipelined_cg")
                self.assertEqual(run["engine"], "resident")
                self.assertTrue(run["converged"])
                self.assertLessEqual(run["relative_residual"], 1.02 * run["rtol"])
                self.assertLessEqual(abs(run["iterations"] - cg["iterations"]), 2)
                self.assertEqual(self.chosen(run), [])

    def test_goes_on_where_it_was_stopped(self):
        whole = self.pipelined()["iterations"]
        self.pipelined("--set", "solver.max_iterations=20", code=5)
        run = self.pipelined("--resume", "--set", "solver.max_iterations=1000")
        self.assertTrue(run["converged"])
        self.assertLessEqual(run["iterations"], whole + 1)

    def test_takes_one_right_hand_side_after_the_other(self):
        self.case("problem: {generate: poisson3d, n: 14, rhs: random, rhs_count: 5}")
        run = self.pipelined()
        self.assertEqual([column["converged"] for column in run["columns"]], [True] * 5)
        self.assertEqual(run["block"], 1)
        with h5py.File(self.folder / "results" / "solution.h5") as file:
            self.assertEqual(file["x"].shape, (14**3, 5))

    def test_refuses_what_only_petsc_has(self):
        done = self.run_solve("--set", "solver.method=pipelined_cg", "--set", "solver.preconditioner=gamg", code=2)
        line, = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
        self.assertIn("method pipelined_cg works in the resident engine only", line)
        self.assertIn("use cg", line)

    def test_cg_says_which_variant_runs_and_why_where_it_was_timed(self):
        self.assertEqual(self.chosen(self.report()), [], "without a wish, no timing chooses")
        # The method is named: timings of a busy machine may make `auto` take complete factors.
        named = ("--set", "solver.method=cg", "--set", "solver.preconditioner=jacobi")
        notes = self.chosen(self.report("--set", "reproducible=false", *named))
        self.assertEqual(len(notes), 0 if RANKS == 1 else 1)
        for note in notes:
            self.assertRegex(note, r"^CG runs as (classic|single_reduction): a sum over the ranks takes \S+ us, and the "
                                   r"work on vectors \S+ us per iteration as classic and \S+ us as single_reduction$")
        for variant in ("classic", "single_reduction"):
            self.assertEqual(self.chosen(self.report("--", "-ksp_trireme_variant", variant)), [])
        view = self.run_solve("--", "-ksp_view", "-ksp_trireme_variant", "measured").stdout
        self.assertEqual(CHOSEN in view, RANKS > 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
