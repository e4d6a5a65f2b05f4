#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""preconditioner: multigrid from outside: model problems, a real matrix, sequences, blocks, mistakes.

usage: multigrid_test.py SOURCE_FOLDER SOLVE PROBLEM RANKS [mpiexec and its flags ...]
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, SOLVE, PROBLEM, RANKS = (pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
LAUNCH = sys.argv[5:]
MATRICES = SOURCE.parent / "shared" / "matrices"
PATIENCE = 90.0  # seconds that one run may take on a busy machine
POISSON = "{generate: poisson3d, n: 20, rhs: random}"


class Multigrid(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-multigrid-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.results = self.folder / "results"

    def run_solve(self, problem, solver, *options, code=0, more=""):
        """Runs a case on the CPU and returns what it wrote to stderr."""
        (self.folder / "case.yaml").write_text(
            f"problem: {problem}\nsolver: {solver}\ndevice: cpu\n{more}")
        done = subprocess.run([*LAUNCH, SOLVE, "--config", "case.yaml", "--quiet", *options], cwd=self.folder,
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done.stderr

    def solve(self, problem, solver, *options, more=""):
        """Returns the run of a case that converges, whose b - A x is checked once more."""
        self.run_solve(problem, solver, *options, more=more)
        run, = json.loads((self.results / "report.json").read_text())["runs"]
        self.assertTrue(run["converged"])
        self.assertLessEqual(run["relative_residual"], 1.02 * run["rtol"])
        return run

    def refused(self, code, problem, solver, *options):
        """Returns the single error line of a run that is refused."""
        lines = [line for line in self.run_solve(problem, solver, *options, code=code).splitlines()
                 if line.startswith("solve: ")]
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def file(self, *arguments, name="system.h5"):
        subprocess.run([PROBLEM, *map(str, arguments), name], cwd=self.folder, check=True, capture_output=True)
        return name

    def market(self, entries, n):
        """Writes an HDF5 file with a symmetric matrix of (row, column, value) triplets, counted from 1."""
        (self.folder / "matrix.mtx").write_text(
            "%%MatrixMarket matrix coordinate real symmetric\n"
            f"{n} {n} {len(entries)}\n" + "".join(f"{i} {j} {v}\n" for i, j, v in entries))
        return self.file("import", "matrix.mtx", name="matrix.h5")

    def fewer_iterations(self, problem, method, factor):
        jacobi = self.solve(problem, f"{{method: {method}}}")
        multigrid = self.solve(problem, f"{{method: {method}, preconditioner: multigrid}}")
        self.assertEqual(multigrid["preconditioner"], "multigrid")
        self.assertEqual(multigrid["engine"], "resident")
        self.assertLess(factor * multigrid["iterations"], jacobi["iterations"])

    def test_poisson_takes_a_quarter_of_the_iterations(self):
        for method in ("cg", "minres", "bicgstab"):
            with self.subTest(method):
                self.fewer_iterations("{generate: poisson3d, n: 24, rhs: random}", method, 3 if method == "bicgstab"
                                      else 4)

    def test_elasticity_is_solved(self):
        self.fewer_iterations("{generate: elasticity3d, n: 8, rhs: random}", "cg", 2)

    def test_convection_is_solved_by_a_smoother_for_complex_spectra(self):
        self.fewer_iterations("{generate: convection3d, n: 16, rhs: random}", "bicgstab", 2)

    def test_a_real_matrix_is_solved(self):
        if not MATRICES.exists():
            self.skipTest(f"{MATRICES} does not exist")
        for name in ("jnlbrng1", "1138_bus"):
            with self.subTest(name):
                system = self.file("import", MATRICES / f"{name}.mtx.gz")
                self.fewer_iterations(f"{{file: {system}, rhs: random}}", "cg", 3)

    def test_petscs_methods_call_the_cycle_too(self):
        ours = self.solve(POISSON, "{preconditioner: multigrid}")
        for method in ("fgmres", "fcg"):
            with self.subTest(method):
                run = self.solve(POISSON, f"{{method: {method}, preconditioner: multigrid, "
                                 "multigrid: {smoother: chebyshev}}")
                self.assertEqual(run["engine"], "petsc")
                self.assertLessEqual(run["iterations"], 2 * ours["iterations"])
        run = self.solve(POISSON, "{engine: petsc, preconditioner: multigrid}")
        self.assertAlmostEqual(run["iterations"], ours["iterations"], delta=1)

    def test_petscs_own_matrix_serves_too(self):
        ours = self.solve(POISSON, "{preconditioner: multigrid}")
        run = self.solve(POISSON, "{preconditioner: multigrid}", "--kernel", "petsc-aij")
        self.assertAlmostEqual(run["iterations"], ours["iterations"], delta=1)

    def test_two_runs_have_the_same_history(self):
        first = self.solve(POISSON, "{preconditioner: multigrid}")
        second = self.solve(POISSON, "{preconditioner: multigrid}")
        self.assertEqual(first["history"], second["history"])

    def test_mixed_precision_is_confirmed_by_the_exact_residual(self):
        problem = "{generate: elasticity3d, n: 6, rhs: random}"
        run = self.solve(problem, "{preconditioner: multigrid, rtol: 1e-11}", "--set", "precision=mixed")
        self.assertEqual(run["precision"], "mixed")
        self.assertGreaterEqual(run["corrections"], 1)

    def test_many_right_hand_sides_are_solved_at_once(self):
        problem = "{generate: poisson3d, n: 14, rhs: random, rhs_count: 6}"
        one = self.solve(problem, "{preconditioner: multigrid, block: 1}")
        for method in ("cg", "block_cg"):
            with self.subTest(method):
                run = self.solve(problem, f"{{method: {method}, preconditioner: multigrid, block: 4}}")
                self.assertEqual(len(run["columns"]), 6)
                for alone, column in zip(one["columns"], run["columns"]):
                    self.assertTrue(column["converged"])
                    self.assertLessEqual(column["iterations"], alone["iterations"] + 1)

    def test_a_sequence_renews_the_levels_by_its_rule(self):
        system = self.file("generate", "poisson3d", "--n", 12, "--rhs", "ones", "--steps", 5)
        problem = f"{{file: {system}, rhs: /b, steps: {{count: 5, values: '/values/{{}}'}}}}"
        renewed = {}
        for rule in ("always", "adaptive", "never"):
            run = self.solve(problem, f"{{preconditioner: multigrid, renew: {rule}}}")
            self.assertEqual(len(run["steps"]), 5)
            for step in run["steps"]:
                self.assertLessEqual(step["relative_residual"], 1.02e-8)
            renewed[rule] = sum(step["renewed"] for step in run["steps"])
        self.assertEqual(renewed["always"], 5)
        self.assertEqual(renewed["never"], 1)
        self.assertIn(renewed["adaptive"], range(1, 6))

    def test_a_stopped_run_goes_on(self):
        whole = self.solve(POISSON, "{method: cg, preconditioner: multigrid}")
        self.run_solve(POISSON, "{method: cg, preconditioner: multigrid, max_iterations: 4}", code=5)
        rest = self.solve(POISSON, "{method: cg, preconditioner: multigrid, max_iterations: 1000}", "--resume")
        self.assertAlmostEqual(rest["iterations"], whole["iterations"], delta=2)
        self.run_solve(POISSON, "{method: cg, preconditioner: multigrid, max_iterations: 4}", code=5)
        line = self.refused(2, POISSON, "{method: cg, preconditioner: multigrid, multigrid: {degree: 3}}", "--resume")
        self.assertIn("solver.multigrid.degree was 2 and is 3", line)

    def test_options_reach_the_levels(self):
        alone = ("smoother: jacobi", "smoother: l1-jacobi", "degree: 1", "threshold: 0.05", "precision: double")
        for options in ("smoother: block-jacobi, cycle: w", "aggressive_levels: 1, smoothed_prolongator: false",
                        *(alone if RANKS == 1 else ())):
            with self.subTest(options):
                self.solve(POISSON, f"{{preconditioner: multigrid, multigrid: {{{options}}}}}")
        run = self.solve(POISSON, "{preconditioner: jacobi, multigrid: {degree: 3}}")
        self.assertIn("preconditioner jacobi does not use solver.multigrid", run["notes"])

    def test_mistakes_have_a_line_that_says_what_to_do(self):
        multigrid = "{preconditioner: multigrid, multigrid: {%s}}"
        for solver, words in (
                (multigrid % "smother: jacobi", "did you mean 'solver.multigrid.smoother'?"),
                (multigrid % "smoother: jacoby", "did you mean 'jacobi'?"),
                (multigrid % "threshold: 2", "from 0 to below 1"),
                (multigrid % "smoother: chebyshev, degree: 6", "at most 4 with smoother chebyshev"),
                ("{preconditioner: mutigrid}", "did you mean 'multigrid'?")):
            with self.subTest(solver):
                self.assertIn(words, self.refused(2, POISSON, solver))
        self.assertIn("ordering", self.refused(2, POISSON, "{preconditioner: multigrid}", "--set", "ordering=rcm"))
        for option in ("-pc_trireme_mg_smoother", "-pc_trireme_mg_degree"):
            with self.subTest(option):
                self.refused(2, POISSON, "{preconditioner: multigrid}", "--", option, "77")

    def test_a_diagonal_that_is_not_positive_is_named(self):
        n = 900  # a level that is small is inverted, whatever its diagonal is
        for value in (0, -4):
            system = self.market([(i, i, value if i == 3 else 4) for i in range(1, n + 1)]
                                 + [(i + 1, i, -1) for i in range(1, n)], n)
            with self.subTest(value):
                line = self.refused(3, f"{{file: {system}, rhs: ones}}",
                                    f"{{preconditioner: multigrid, engine: {'petsc' if value else 'resident'}}}")
                self.assertIn("row 2 ", line)

    def test_an_indefinite_matrix_does_not_converge_falsely(self):
        n = 30  # points per side; the smallest eigenvalue of the Laplacian is shifted below 0
        system = self.market([(i, i, 2.5) for i in range(1, n * n + 1)]
                             + [(i + 1, i, -1) for i in range(1, n * n) if i % n]
                             + [(i + n, i, -1) for i in range(1, n * n - n + 1)], n * n)
        for method in ("cg", "minres"):
            with self.subTest(method):
                self.run_solve(f"{{file: {system}, rhs: random}}", f"{{method: {method}, preconditioner: multigrid}}",
                               code=6)
                run, = json.loads((self.results / "report.json").read_text())["runs"]
                self.assertFalse(run["converged"])
                self.assertIn("indefinite", run["reason"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
