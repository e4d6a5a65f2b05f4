#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""preconditioner: multigrid on GPUs takes the iterations of the host, with the levels of the host.

usage: gpu_multigrid_test.py SOLVE PROBLEM mpiexec and its flags ...
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOLVE, PROBLEM, MPIEXEC = sys.argv[1], sys.argv[2], sys.argv[3:]
POISSON = "{generate: poisson3d, n: 24, rhs: random}"


class MultigridOnAGpu(unittest.TestCase):
    def setUp(self):
        if not (shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout):
            self.skipTest("there is no GPU")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-gpu-multigrid-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_solve(self, device, problem, solver, code=0, ranks=1):
        (self.folder / "case.yaml").write_text(f"problem: {problem}\nsolver: {solver}\ndevice: {device}\n")
        launcher = [*MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launcher, SOLVE, "--config", "case.yaml", "--quiet"], cwd=self.folder, text=True,
                              capture_output=True, timeout=90)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def solve(self, device, problem, solver, ranks=1):
        self.run_solve(device, problem, solver, ranks=ranks)
        run, = json.loads((self.folder / "results" / "report.json").read_text())["runs"]
        self.assertTrue(run["converged"])
        self.assertLessEqual(run["relative_residual"], 1.02 * run["rtol"])
        return run

    def both(self, problem, solver, ranks=1):
        """Returns the run on GPUs, which is compared with that on the host."""
        host, gpu = self.solve("cpu", problem, solver), self.solve("cuda", problem, solver, ranks)
        self.assertEqual((gpu["engine"], gpu["preconditioner"]), ("resident", "multigrid"))
        self.assertLessEqual(abs(gpu["iterations"] - host["iterations"]), 1)
        sizes = [[(level["rows"], level["nnz"]) for level in run["multigrid"]["levels"]] for run in (host, gpu)]
        self.assertEqual(sizes[0], sizes[1])
        self.assertEqual(gpu["multigrid"]["smoother"], host["multigrid"]["smoother"])
        self.assertGreater(gpu["multigrid"]["set_up_seconds"]["total"], 0)
        for level in gpu["multigrid"]["levels"][:-1]:
            self.assertIn("per row", level["kernel"])
        return gpu

    def test_model_problems(self):
        for problem, method in ((POISSON, "cg"), (POISSON, "minres"),
                                ("{generate: elasticity3d, n: 8, rhs: random}", "cg"),
                                ("{generate: diffusion3d, n: 20, rhs: random}", "cg"),
                                ("{generate: convection3d, n: 20, rhs: random}", "bicgstab")):
            with self.subTest(problem=problem, method=method):
                self.both(problem, f"{{method: {method}, preconditioner: multigrid}}")

    def test_several_ranks_which_may_share_a_gpu(self):
        self.assertTrue(MPIEXEC, "mpiexec is not given")
        for problem, method in (("{generate: poisson3d, n: 56, rhs: random}", "cg"),
                                ("{generate: convection3d, n: 20, rhs: random}", "bicgstab")):
            with self.subTest(problem=problem):
                self.both(problem, f"{{method: {method}, preconditioner: multigrid}}", ranks=2)

    def test_every_smoother(self):
        for smoother in ("chebyshev", "jacobi", "l1-jacobi"):
            with self.subTest(smoother):
                self.both(POISSON, f"{{method: cg, preconditioner: multigrid, multigrid: {{smoother: {smoother}}}}}")

    def test_a_sequence_renews_the_levels(self):
        subprocess.run([PROBLEM, "generate", "poisson3d", "--n", "16", "--rhs", "ones", "--steps", "4", "system.h5"],
                       cwd=self.folder, check=True, capture_output=True)
        problem = "{file: system.h5, rhs: /b, steps: {count: 4, values: '/values/{}'}}"
        for rule in ("always", "adaptive", "never"):
            with self.subTest(rule):
                run = self.solve("cuda", problem, f"{{method: cg, preconditioner: multigrid, renew: {rule}}}")
                self.assertEqual(len(run["steps"]), 4)
                for step in run["steps"]:
                    self.assertLessEqual(step["relative_residual"], 1.02e-8)

    def test_auto_may_take_it(self):
        run = self.solve("cuda", POISSON, "{method: cg, preconditioner: auto}")
        candidates = {c["name"]: c for c in run["preconditioner_choice"]["candidates"]}
        self.assertNotIn("GPU", candidates["multigrid"]["verdict"])

    def test_a_matrix_without_a_hierarchy_is_refused_by_one_line(self):
        (self.folder / "matrix.mtx").write_text(
            "%%MatrixMarket matrix coordinate real symmetric\n"
            "2000 2000 2000\n" + "".join(f"{i} {i} {-1 if i == 8 else 2}\n" for i in range(1, 2001)))
        subprocess.run([PROBLEM, "import", "matrix.mtx", "matrix.h5"], cwd=self.folder, check=True,
                       capture_output=True)
        errors = self.run_solve("cuda", "{file: matrix.h5, rhs: random}",
                                "{method: cg, preconditioner: multigrid}", code=3)
        lines = [line for line in errors.splitlines() if line.startswith("solve: ")]
        self.assertEqual(len(lines), 1, errors)
        self.assertIn("row 7 (from 0)", lines[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
