#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""solve --resume continues a run from the point where it was stopped, or says why it cannot.

usage: resume_test.py SOURCE_FOLDER SOLVE PROBLEM RANKS [mpiexec and its flags ...]

Each run begins on RANKS ranks and continues on one rank, or the other way round.
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
import numpy as np

from ranks_of import ranks_of

SOURCE, SOLVE, PROBLEM = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
LAUNCH = sys.argv[5:]
PATIENCE = 90.0  # seconds that one step may take on a busy machine
CG = "solver: {method: cg, rtol: 1e-9, max_iterations: %d}\n"


class Resumes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-resume-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.results = self.folder / "results"
        self.state = self.results / "state.h5"

    def case(self, text, problem="{generate: poisson2d, n: 60, rhs: random}"):
        (self.folder / "case.yaml").write_text(f"problem: {problem}\ndevice: cpu\nkernel: csr\n{text}")

    def command(self, *options, alone=False):
        return [*([] if alone else LAUNCH), SOLVE, "--config", "case.yaml", "--quiet", *options]

    def solve(self, *options, alone=False, code=0):
        done = subprocess.run(self.command(*options, alone=alone), cwd=self.folder, capture_output=True,
                              text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def run_of_report(self):
        run, = json.loads((self.results / "report.json").read_text())["runs"]
        return run

    def whole(self, *options):
        """Returns the report of the run without a stop."""
        self.solve(*options)
        run = self.run_of_report()
        shutil.rmtree(self.results)
        return run

    def resumed(self, whole, at_most, *options, alone=True):
        self.solve("--resume", *options, alone=alone)
        run = self.run_of_report()
        self.assertTrue(run["converged"])
        self.assertLessEqual(run["iterations"], at_most)
        self.assertLessEqual(run["relative_residual"], 1.02 * run["rtol"])
        self.assertEqual(len(run["history"]), run["iterations"] + 1, "the history is that of all runs")
        np.testing.assert_allclose(run["history"][:2], whole["history"][:2], rtol=1e-6)
        self.assertTrue(any("resumed at iteration" in note for note in run["notes"]), run["notes"])
        self.assertFalse(self.state.exists(), "a run that has converged leaves no state")
        return run

    def refused(self, why, *options, code=2):
        errors = self.solve("--resume", *options, alone=True, code=code)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertIn(why, errors)

    def test_after_the_iteration_limit_again_and_again(self):
        self.case(CG % 10000)
        whole = self.whole()
        self.case(CG % 30)
        self.solve(code=5)
        self.assertEqual(self.run_of_report()["iterations"], 30)
        self.assertTrue(any("--resume" in note for note in self.run_of_report()["notes"]))
        for limit in (31, 77):
            self.solve("--resume", "--set", f"solver.max_iterations={limit}", alone=limit == 77, code=5)
            self.assertEqual(self.run_of_report()["iterations"], limit)
        self.solve("--resume", "--set", "solver.max_iterations=77", code=5)
        self.assertEqual(self.run_of_report()["iterations"], 77, "the limit counts all iterations")
        self.resumed(whole, whole["iterations"] + 1, "--set", "solver.max_iterations=10000")

    def test_with_every_loop(self):
        for method, preconditioner, engine, more in (("bicgstab", "jacobi", "resident", 1.25),
                                                     ("cg", "pbjacobi", "resident", 1.01),
                                                     ("cg", "jacobi", "petsc", 1.6),
                                                     ("gmres", "jacobi", "petsc", 2)):
            with self.subTest(method=method, engine=engine, preconditioner=preconditioner):
                self.case(f"solver: {{method: {method}, preconditioner: {preconditioner}, engine: {engine}}}\n"
                          "petsc: {mat_block_size: 3}\n")
                whole = self.whole()
                self.solve("--set", f"solver.max_iterations={whole['iterations'] // 2}", code=5)
                self.resumed(whole, more * whole["iterations"] + 2)

    def test_of_a_scaled_system(self):
        """The state has the solution of the system as it is read, and directions of the scaled one."""
        diffusion = "{generate: diffusion3d, n: 12, rhs: random}"
        for method, scaling in (("cg", "ruiz"), ("bicgstab", "diagonal"), ("cg", "matching")):
            with self.subTest(method=method, scaling=scaling):
                self.case(f"solver: {{method: {method}, scaling: {scaling}, rtol: 1e-9}}\n", problem=diffusion)
                whole = self.whole()
                self.assertEqual(whole["scaling"], scaling)
                self.solve("--set", f"solver.max_iterations={whole['iterations'] // 2}", code=5)
                self.refused("solver.scaling was", "--set", "solver.scaling=none")
                self.resumed(whole, 1.25 * whole["iterations"] + 2, alone=True)

    def test_mixed_precision(self):
        self.case("precision: mixed\n" + CG % 10000,
                  problem="{generate: elasticity3d, n: 8, rhs: random}")
        whole = self.whole()
        self.solve("--set", f"solver.max_iterations={whole['iterations'] // 2}", code=5)
        self.resumed(whole, whole["iterations"] + 1)

    @contextlib.contextmanager
    def begun(self, *options):
        """Starts solve and yields its process; on exit no process of the job is left."""
        with (self.folder / "printed").open("w") as out:
            child = subprocess.Popen(self.command(*options, "--", "-ksp_view_pre"), cwd=self.folder, stdout=out,
                                     stderr=subprocess.PIPE, text=True)
        try:
            yield child
        finally:
            if child.poll() is None:
                for process in [*ranks_of(child.pid), child.pid]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                child.communicate()

    def until(self, condition, child):
        begin = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - begin, PATIENCE)
            self.assertIsNone(child.poll(), "ended by itself")
            time.sleep(0.02)

    def test_after_sigterm(self):
        self.case(CG % 100000, problem="{generate: poisson2d, n: 400, rhs: random}")
        whole = self.whole()
        with self.begun() as child:
            self.until(lambda: "KSP Object" in (self.folder / "printed").read_text(), child)
            time.sleep(0.1)
            os.kill(ranks_of(child.pid)[-1], signal.SIGTERM)
            child.communicate(timeout=PATIENCE)
        self.assertEqual(child.returncode, 5)
        self.assertLess(self.run_of_report()["iterations"], whole["iterations"])
        self.resumed(whole, whole["iterations"] + 1)

    def test_from_a_checkpoint_after_sigkill(self):
        for engine, more in (("resident", 1), ("petsc", 1.6)):
            with self.subTest(engine=engine):
                self.case(f"solver: {{method: cg, engine: {engine}, rtol: 1e-9, max_iterations: 100000}}\n"
                          "report: {checkpoint: 0.1s}\n", problem="{generate: poisson2d, n: 500, rhs: random}")
                whole = self.whole("--set", "report.checkpoint=1000h")
                with self.begun() as child:
                    self.until(self.state.exists, child)
                    for rank in ranks_of(child.pid):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(rank, signal.SIGKILL)
                    child.communicate(timeout=PATIENCE)
                self.assertFalse((self.results / "report.json").exists())
                run = self.resumed(whole, more * whole["iterations"] + 2)
                self.assertTrue(any("checkpoint" in note for note in run["notes"]) or engine == "petsc")

    def test_with_several_right_hand_sides_keeps_those_that_are_solved(self):
        subprocess.run([PROBLEM, "generate", "poisson2d", self.folder / "a.h5", "--n", "60"], check=True,
                       capture_output=True)
        with h5py.File(self.folder / "a.h5", "a") as file:
            if "b" in file:
                del file["b"]
            b = np.random.default_rng(1).standard_normal((3600, 3))
            b[:, 1] = 0
            b[7, 1] = 1e-30  # a right-hand side of another scale
            file["b"] = b
        self.case(CG % 10000, problem="{file: a.h5, rhs: /b}")
        self.solve()
        with h5py.File(self.results / "solution.h5") as file:
            x = file["x"][:]
        iterations = self.run_of_report()["iterations"]
        shutil.rmtree(self.results)
        self.solve("--set", "solver.max_iterations=100", code=5)
        self.solve("--resume", alone=True)
        run = self.run_of_report()
        self.assertLessEqual(run["iterations"], iterations + 1)
        with h5py.File(self.results / "solution.h5") as file:
            np.testing.assert_allclose(file["x"][:], x, rtol=1e-6, atol=1e-38)

    def test_what_an_earlier_run_calls_solved_is_judged(self):
        subprocess.run([PROBLEM, "generate", "poisson2d", self.folder / "a.h5", "--n", "60"], check=True,
                       capture_output=True)
        y, x = np.divmod(np.arange(3600), 60) + np.ones((2, 1))
        easy = np.sin(np.pi * x / 61) * np.sin(np.pi * y / 61)  # an eigenvector: one iteration
        with h5py.File(self.folder / "a.h5", "a") as file:
            if "b" in file:
                del file["b"]
            file["b"] = np.column_stack([easy, np.random.default_rng(1).standard_normal(3600)])
        self.case(CG % 10000, problem="{file: a.h5, rhs: /b}")
        for damaged in (False, True):
            with self.subTest(damaged=damaged):
                self.solve("--set", "solver.max_iterations=20", code=5)
                if damaged:
                    with h5py.File(self.state, "a") as file:
                        file["x"][...] *= 1.5
                self.solve("--resume", alone=True)
                run = self.run_of_report()
                self.assertEqual([c["converged"] for c in run["columns"]], [True, True])
                self.assertEqual("in an earlier run" in run["columns"][0]["reason"], not damaged)
                self.assertEqual(any("was solved again" in note for note in run["notes"]), damaged)
                for column in run["columns"]:
                    self.assertLessEqual(column["relative_residual"], 1.02e-9)
        with h5py.File(self.results / "solution.h5") as file:
            solution = file["x"][:]
        self.solve("--set", "solver.max_iterations=20", code=5)
        with h5py.File(self.state, "a") as file:
            file["x"][...] = solution
            file["converged"][...] = 1
        self.solve("--resume", alone=True)  # nothing is left to be solved
        self.assertEqual(["in an earlier run" in c["reason"] for c in self.run_of_report()["columns"]],
                         [True, True])
        self.solve("--set", "solver.max_iterations=20", code=5)
        self.refused("petsc was", "--", "-ksp_converged_use_initial_residual_norm")
        self.solve("--resume", "--", "-ksp_monitor", alone=True)

    def test_refuses_what_is_not_the_same_run(self):
        self.case(CG % 20)
        self.refused("there is no results/state.h5")
        self.solve(code=5)
        before = self.state.read_bytes()
        self.refused("solver.rtol was 1e-09 and is 1e-06", "--set", "solver.rtol=1e-6")
        self.refused("solver.method was cg and is bicgstab", "--set", "solver.method=bicgstab")
        self.refused("kernel was csr and is albus", "--kernel", "albus")
        self.refused("repeat was 1 and is 2", "--set", "repeat=2")
        self.refused("b has changed", "--set", "problem.rhs=ones")
        self.refused("the matrix has changed", "--set", "problem.n=61")
        self.refused("name one by --kernel", "--kernel", "csr,albus")
        self.assertEqual(self.state.read_bytes(), before)
        self.solve("--resume", "--set", "solver.max_iterations=1000", "--set", "report.checkpoint=1h")
        self.refused("there is no results/state.h5")

    def test_refuses_another_right_hand_side_of_the_file(self):
        subprocess.run([PROBLEM, "generate", "poisson2d", self.folder / "own.h5", "--n", "60"], check=True,
                       capture_output=True)
        self.case(CG % 20, problem="{file: own.h5}")
        self.solve(code=5)
        with h5py.File(self.folder / "own.h5", "r+") as file:
            file["b"] = np.ones(3600)
        self.refused("b has changed")
        with h5py.File(self.folder / "own.h5", "r+") as file:
            file["x0"] = np.ones(3600)
        self.refused("x0 has changed", "--set", "problem.rhs=from-ones")

    def test_refuses_a_state_that_lacks_a_setting(self):
        self.case(CG % 20)
        self.solve(code=5)
        with h5py.File(self.state, "a") as file:
            del file.attrs["solver.atol"]
        self.refused("solver.atol was not noted and is 0")

    def test_refuses_a_damaged_state(self):
        self.case(CG % 20)
        self.solve(code=5)
        with h5py.File(self.state, "a") as file:
            del file["iterations"]
        self.refused("iterations", code=3)
        with h5py.File(self.state, "a") as file:
            file.attrs["trireme_state"] = "0"
        self.refused("this release")
        self.state.write_text("not HDF5")
        self.refused("state.h5", code=3)

    def test_compared_kernels_leave_no_state(self):
        self.case(CG % 20)
        self.solve("--kernel", "csr,albus", code=5)
        self.assertFalse(self.state.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
