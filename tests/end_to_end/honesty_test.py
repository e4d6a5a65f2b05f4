#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exit code 0 means that b - A x is small; the arithmetic here shares no code with the program.

usage: honesty_test.py SOURCE_FOLDER SOLVE PROBLEM RANKS [mpiexec and its flags ...]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

import h5py
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg

SOLVE, RANKS, LAUNCH = sys.argv[2], int(sys.argv[4]), sys.argv[5:]
RTOL = 1e-8
ROWS = 60


def exactly(a, b, x):
    """Returns ||b - A x||^2 / ||b||^2, computed in rational numbers without rounding, underflow or overflow."""
    b, x = [Fraction(v) for v in b], [Fraction(v) for v in x]
    rows = (b[i] - sum(Fraction(a.data[k]) * x[a.indices[k]] for k in range(a.indptr[i], a.indptr[i + 1]))
            for i in range(len(b)))
    return float(sum(r * r for r in rows) / sum(v * v for v in b))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-honesty-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.environment = {**os.environ, "HOME": str(self.home)}
        self.environment.pop("PETSC_OPTIONS", None)

    def system(self, matrix, b):
        self.a, self.b = sparse.csr_matrix(matrix), b
        with h5py.File(self.folder / "system.h5", "w") as file:
            group = file.create_group("A")
            group.attrs["format"], group.attrs["shape"] = "csr", self.a.shape
            group["indptr"], group["indices"], group["data"] = self.a.indptr, self.a.indices, self.a.data
            file["b"] = b
        return "{file: system.h5, rhs: /b}"

    def solve(self, problem, solver, *petsc, environment=None):
        (self.folder / "case.yaml").write_text(
            f"problem: {problem}\nsolver: {{rtol: {RTOL}, {solver}}}\nkernel: csr\ndevice: cpu\n")
        done = subprocess.run([*LAUNCH, SOLVE, "--config", "case.yaml", "--", *petsc], cwd=self.folder, text=True,
                              capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                              env={**self.environment, **(environment or {})})
        report = self.folder / "results/report.json"
        self.run_report = json.loads(report.read_text())["runs"][0] if report.exists() else None
        return done

    def true_residual(self):
        with h5py.File(self.folder / "results/solution.h5") as file:
            x = file["x"][:]
        return exactly(self.a, self.b, x)**0.5 if np.isfinite(x).all() else float("nan")


class EveryScale(Case):
    """With A and b times any power of ten, the answer is right, or the exit code is 6 and the reason is given."""

    def check(self, method, below, scale_a, scale_b):
        matrix = sparse.diags([below, 2.5, -1.0], [-1, 0, 1], (ROWS, ROWS)) * scale_a
        b = np.random.default_rng(1).standard_normal(ROWS) * scale_b
        for engine in ("resident", "petsc"):
            with self.subTest(method=method, engine=engine, a=scale_a, b=scale_b):
                done = self.solve(self.system(matrix, b), f"method: {method}, engine: {engine}")
                size_of_x = np.log10(scale_b) - np.log10(scale_a)
                reason, notes = self.run_report["reason"], " ".join(self.run_report["notes"])
                self.assertNotIn("not symmetric", notes if method == "cg" else "")
                if -306 < size_of_x < 306:
                    self.assertEqual(done.returncode, 0, reason)
                    self.assertLessEqual(self.true_residual(), 1.02 * RTOL)
                    self.assertAlmostEqual(self.run_report["relative_residual"] / self.true_residual(), 1, 5)
                else:
                    self.assertEqual(done.returncode, 6, reason)
                    self.assertRegex(reason, "exceeds the largest double|below the smallest normal double")

    def test_cg(self):
        scales = [(1, 1e-170), (1, 1e-156), (1, 1e200), (1e-300, 1e-300), (1e300, 1e300), (1e-300, 1e200), (1e300, 1e-300)]
        for scale_a, scale_b in scales if RANKS == 1 else scales[:4]:
            self.check("cg", -1.0, scale_a, scale_b)

    def test_bicgstab(self):
        for scale_a, scale_b in [(1, 1e-170), (1e-300, 1e-300), (1e170, 1e200)] if RANKS == 1 else [(1e170, 1e-100)]:
            self.check("bicgstab", -1.3, scale_a, scale_b)

    def test_an_absolute_tolerance_is_in_the_units_of_b(self):
        b = np.full(ROWS, 1e-170)
        problem = self.system(sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (ROWS, ROWS)), b)
        self.assertEqual(self.solve(problem, "method: cg, atol: 1e-171").returncode, 0)
        self.assertLess(1e-4, self.true_residual())
        self.assertLessEqual(self.true_residual() * np.sqrt(ROWS) * 1e-170, 1.02e-171)

    def test_rows_of_all_scales_at_once_never_end_as_success_by_mistake(self):
        b = np.ones(ROWS)
        scales = sparse.diags(np.logspace(-150, 150, ROWS))
        problem = self.system(scales @ sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (ROWS, ROWS)) @ scales, b)
        for solver in ("method: cg", "method: bicgstab", "method: cg, preconditioner: none"):
            done = self.solve(problem, solver)
            self.assertIn(done.returncode, (0, 5, 6))
            if done.returncode == 0:
                self.assertLessEqual(self.true_residual(), 1.02 * RTOL)


def with_huge_rows(n, size, how):
    """Returns the 5-point matrix of an n x n grid and b, for a source and values on the edge: prescribed by a penalty
    of this size, or by rows of the identity that are multiplied by it."""
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    matrix = sparse.lil_matrix(sparse.kronsum(line, line))
    y, x = np.divmod(np.arange(n * n), n)
    edge = (x == 0) | (y == 0) | (x == n - 1) | (y == n - 1)
    values, b = np.sin(3.0 * x / n) + y / n, np.full(n * n, 1.0 / n**2)
    if how == "penalty":
        matrix.setdiag(matrix.diagonal() + size * edge)
        b[edge] += size * values[edge]
    else:
        b -= matrix @ (values * edge)
        inside = sparse.diags((~edge).astype(float))
        matrix = inside @ matrix @ inside + sparse.diags(size * edge)
        b[edge] = size * values[edge]
    return sparse.csr_matrix(matrix), b, ~edge


class HugeRows(Case):
    """||b - A x|| / ||b|| is the residual of a few huge rows alone; the other rows must be solved too."""
    METHODS = ("method: cg", "method: bicgstab", "method: minres", "method: cg, preconditioner: multigrid",
               "method: cg, engine: petsc", "method: bicgstab, engine: petsc, preconditioner: bjacobi",
               "method: pipelined_cg", "method: cg, preconditioner: trireme_chebyshev")

    def error_inside(self, inside):
        exact = sparse.linalg.spsolve(self.a.tocsc(), self.b)
        with h5py.File(self.folder / "results/solution.h5") as file:
            return np.abs(file["x"][:] - exact)[inside].max() / np.abs(exact).max()

    def test_the_others_are_solved(self):
        for k, solver in enumerate(self.METHODS):
            few = (k > 2 and RANKS > 1) or "pipelined" in solver
            for size, how in ((1e8, "penalty"), (1e30, "rows"), (1e20, "penalty"))[:1 if few else 3]:
                with self.subTest(solver=solver, size=size, how=how):
                    matrix, b, inside = with_huge_rows(30, size, how)
                    done = self.solve(self.system(matrix, b), solver)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertLess(self.error_inside(inside), 1e-5)
                    self.assertLessEqual(self.run_report["relative_row_residual"], 1.02 * RTOL)

    def test_less_can_be_asked_for(self):
        matrix, b, inside = with_huge_rows(30, 1e8, "penalty")
        done = self.solve(self.system(matrix, b), "norm: residual")
        self.assertEqual(done.returncode, 0)
        self.assertGreater(self.error_inside(inside), 0.1)
        self.assertGreater(self.run_report["relative_row_residual"], 1e-3)
        self.assertIn("with each row divided by its size", " ".join(done.stdout.split()))
        self.assertEqual(self.solve(self.system(matrix, b), "norm: rows").returncode, 0)
        self.assertLess(self.error_inside(inside), 1e-5)

    def test_what_was_not_reached_is_5_with_the_worst_row(self):
        matrix, b, inside = with_huge_rows(30, 1e8, "penalty")
        done = self.solve(self.system(matrix, b), "method: cg, max_iterations: 9")
        self.assertEqual(done.returncode, 5)
        worst = re.search(r"the worst row is (\d+) \(from 0\), of size ([0-9.e+-]+)", self.run_report["reason"])
        self.assertTrue(inside[int(worst[1])])
        self.assertAlmostEqual(float(worst[2]), 4, 1)

    def test_rows_of_like_sizes_are_not_looked_at(self):
        self.solve(self.system(sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (ROWS, ROWS)), np.ones(ROWS)), "")
        self.assertIsNone(self.run_report["relative_row_residual"])

    def test_several_right_hand_sides(self):
        matrix, b, inside = with_huge_rows(30, 1e12, "penalty")
        problem = self.system(matrix, b)
        with h5py.File(self.folder / "system.h5", "a") as file:
            del file["b"]
            file["b"] = np.outer(b, [1, 1e-20, -3]) + np.outer(np.cos(np.arange(len(b))), [0, 0, 1])
        done = self.solve(problem, "block: 3")
        self.assertEqual(done.returncode, 0, done.stdout)
        for column in self.run_report["columns"]:
            self.assertLessEqual(column["relative_row_residual"], 1.02 * RTOL)


    def test_rows_that_become_huge_in_a_later_step(self):
        """The preconditioner of the first values serves all steps; the sizes of rows are those of each."""
        matrix, b, inside = with_huge_rows(30, 1e8, "penalty")
        plain, plain_b, _ = with_huge_rows(30, 1, "penalty")
        self.system(plain, plain_b)
        with h5py.File(self.folder / "system.h5", "a") as file:
            file["values/0"], file["values/1"], file["right/0"], file["right/1"] = plain.data, matrix.data, plain_b, b
        for renew in ("never", "always"):
            with self.subTest(renew=renew):
                done = self.solve("{file: system.h5, rhs: /b, steps: {count: 2, values: '/values/{}', rhs: '/right/{}'}}",
                                  f"method: cg, guess: zero, renew: {renew}")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertGreater(self.run_report["steps"][1]["iterations"], 20)
                self.assertLessEqual(self.run_report["relative_row_residual"], 1.02 * RTOL)

    def test_fewer_rows_than_ranks(self):
        self.solve(self.system(sparse.csr_matrix([[2e8, 1.0], [1.0, 2.0]]), np.array([3e8, 5.0])), "")
        self.assertEqual(self.run_report["exit_code"], 0, self.run_report["reason"])
        self.assertLessEqual(self.run_report["relative_row_residual"], 1.02 * RTOL)


class NotANumber(Case):
    def test_a_solution_that_overflowed_is_6_whatever_the_method_says(self):
        problem = self.system(sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (ROWS, ROWS)), np.ones(ROWS))
        done = self.solve(problem, "method: richardson, preconditioner: none, max_iterations: 3000",
                          "-ksp_norm_type", "none")
        self.assertEqual(done.returncode, 6, self.run_report["reason"])
        self.assertIn("NaN or infinite", self.run_report["reason"])


class TrueResidual(Case):
    """A method that tests another norm, or no norm, succeeds only when b - A x is within rtol."""

    def test_iterations_asked_for_are_no_success_by_themselves(self):
        problem = self.system(sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (ROWS, ROWS)), np.ones(ROWS))
        for iterations, code in ((5, 5), (200, 0)):
            done = self.solve(problem, f"method: cg, engine: petsc, max_iterations: {iterations}",
                              "-ksp_convergence_test", "skip")
            self.assertEqual(done.returncode, code, self.run_report["reason"])

    def test_a_preconditioned_norm_that_is_small_too_early_is_5_with_the_figure(self):
        weights = sparse.diags(np.logspace(0, 6, ROWS))
        problem = self.system(weights @ sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (ROWS, ROWS)), np.ones(ROWS))
        done = self.solve(problem, "method: gmres, engine: petsc", "-ksp_norm_type", "preconditioned",
                          "-ksp_pc_side", "left")
        self.assertGreater(self.true_residual(), 1.02 * RTOL)
        self.assertEqual(done.returncode, 5, self.run_report["reason"])
        self.assertIn(f"the true residual is {self.true_residual():.3g} of ||b||", self.run_report["reason"])


class OptionsFromOutside(Case):
    LOOSE = "-ksp_rtol 0.5\n-ksp_monitor_short ascii:/dev/null\n"

    def setUp(self):
        super().setUp()
        self.problem = self.system(sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (ROWS, ROWS)), np.ones(ROWS))

    def solved(self, **options):
        done = self.solve(self.problem, "engine: petsc", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(self.true_residual(), 1.02 * RTOL)
        return " ".join(self.run_report["notes"])

    def test_keys_of_the_case_win_and_the_rest_is_named(self):
        for how in ("home", "environment"):
            with self.subTest(how=how):
                if how == "home":
                    (self.home / ".petscrc").write_text(self.LOOSE)
                notes = self.solved(environment={} if how == "home" else {"PETSC_OPTIONS": self.LOOSE.replace("\n", " ")})
                self.assertIn("-ksp_rtol 0.5 is ignored: solver.rtol decides", notes)
                self.assertIn("-ksp_monitor_short ascii:/dev/null came from", notes)

    def test_a_file_of_the_working_directory_is_not_read(self):
        (self.folder / ".petscrc").write_text("-ksp_rtol 0.5\n-ksp_view ascii:planted\n")
        self.assertIn("the .petscrc of the working directory was not read", self.solved())
        self.assertFalse((self.folder / "planted").exists())

    def test_after_dashes_they_are_refused(self):
        for option in ("-ksp_rtol", "--KSP_RTOL", "-Ksp_Max_It"):
            done = self.solve(self.problem, "engine: petsc", option, "1")
            self.assertEqual(done.returncode, 2)
            self.assertIn("is decided by the key solver.", done.stderr)

    def test_options_of_the_case_win_over_the_environment(self):
        done = self.solve(self.problem + "\npetsc: {ksp_divtol: 1e6}", "engine: petsc", "-ksp_view",
                          environment={"PETSC_OPTIONS": "-ksp_divtol 123"})
        self.assertIn("divergence=1e+06", done.stdout.replace("1000000.", "1e+06"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
