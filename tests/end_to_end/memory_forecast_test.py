#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The forecast of solve --check against the peak of the same run.

usage: memory_forecast_test.py SOLVE
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

SOLVE = sys.argv.pop(1)
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
LEAST, MOST = 0.8, 1.4  # as docs/running.md says


def write_case(folder, problem, rest):
    path = os.path.join(folder, "case.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"problem: {{{problem}}}\ndevice: cpu\n{rest}\nreport: {{solution: false}}\n")
    return path


def forecast_bytes(case):
    text = subprocess.run([SOLVE, "--config", case, "--check"], check=True, capture_output=True,
                          text=True).stdout
    number, unit = re.search(r"in all +([\d.]+) (\w+)", text).groups()
    return float(number) * UNITS[unit]


def peak_bytes(folder, case):
    """The maximum resident set of the process, in which the run resets its own count."""
    with subprocess.Popen([SOLVE, "--config", case, "--output", folder, "--no-cache", "--quiet"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        usage = os.wait4(process.pid, 0)[2]
        process.returncode = 0
    return usage.ru_maxrss * 1024


class MemoryForecast(unittest.TestCase):
    def expect_within_factor(self, problem, rest):
        with self.subTest(problem=problem, rest=rest), tempfile.TemporaryDirectory() as folder:
            case = write_case(folder, problem, rest)
            ratio = forecast_bytes(case) / peak_bytes(folder, case)
            if os.environ.get("SHOW"):
                print(f"{ratio:.2f}  {problem}  {rest}", flush=True)
            self.assertGreaterEqual(ratio, LEAST)
            self.assertLessEqual(ratio, MOST)

    def test_families(self):
        for problem in ("poisson3d, n: 80", "poisson27, n: 50", "mesh2d, n: 600", "web, n: 300000",
                        "elasticity3d, n: 30"):
            self.expect_within_factor(f"generate: {problem}",
                                      "kernel: albus\nsolver: {max_iterations: 5}")

    def test_kernels_and_solvers(self):
        for rest in ("kernel: csr\nsolver: {method: bicgstab, max_iterations: 5}",
                     "kernel: sell\nsolver: {max_iterations: 5}",
                     "kernel: albus\nprecision: mixed\nsolver: {max_iterations: 5}",
                     "kernel: csr\nsolver: {preconditioner: ilu, max_iterations: 5}",
                     "kernel: csr\nsolver: {preconditioner: multigrid, max_iterations: 5}"):
            self.expect_within_factor("generate: poisson3d, n: 90", rest)

    def test_right_hand_sides(self):
        self.expect_within_factor("generate: poisson3d, n: 80, rhs: random, rhs_count: 8",
                                  "kernel: albus\nsolver: {max_iterations: 5, block: 8}")


if __name__ == "__main__":
    unittest.main()
