#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Right-hand sides that a GPU solves at once end as they do one after another.

usage: gpu_blocks_test.py SOLVE
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOLVE = sys.argv[1]
CASE = """problem: {generate: poisson3d, n: 20, rhs: random, rhs_count: 8}
solver: {method: cg, preconditioner: jacobi}
kernel: spmm-row-warp
report: {formats: [json], solution: false}
"""


class BlocksOnAGpu(unittest.TestCase):
    def setUp(self):
        if not (shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout):
            self.skipTest("there is no GPU")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-blocks-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "case.yaml").write_text(CASE)

    def run_of(self, block):
        done = subprocess.run([SOLVE, "--config", "case.yaml", "--device", "cuda", "--set", f"solver.block={block}"],
                              cwd=self.folder, text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        run, = json.loads((self.folder / "results" / "report.json").read_text())["runs"]
        return run

    def test_columns_end_as_one_after_another(self):
        one, many = self.run_of(1), self.run_of(8)
        self.assertEqual((one["block"], many["block"]), (1, 8))
        self.assertEqual((len(one["columns"]), len(many["columns"])), (8, 8))
        for alone, beside in zip(one["columns"], many["columns"]):
            self.assertLessEqual(abs(alone["iterations"] - beside["iterations"]), 1)
            self.assertEqual(len(beside["history"]), beside["iterations"] + 1)
            self.assertLessEqual(beside["relative_residual"], 1.0001e-8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
