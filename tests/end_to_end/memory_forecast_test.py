#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The forecast of solve --check against the peaks of the ranks of the same run.

usage: memory_forecast_test.py SOLVE PROBLEM MPIRUN [flags ...]
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

SOLVE, PROBLEM, LAUNCH = sys.argv[1], sys.argv[2], sys.argv[3:]
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
RANKED = "kernel: albus\ndistribution: rows\nsolver: {method: cg, max_iterations: 5}"
LEAST, MOST = 0.8, 1.4  # as docs/running.md says


def write_case(folder, problem, rest):
    path = os.path.join(folder, "case.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"problem: {{{problem}}}\ndevice: cpu\n{rest}\nreport: {{solution: false}}\n")
    return path


# Runs a command as a rank, and writes the maximum resident set of its process. The run resets it.
MEASURE = """
import os, subprocess, sys
with subprocess.Popen(sys.argv[2:]) as process:
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
with open(f"{sys.argv[1]}/peak.{os.environ.get('OMPI_COMM_WORLD_RANK', os.environ.get('PMI_RANK'))}", "w") as file:
    file.write(str(usage.ru_maxrss * 1024))
"""


def on_ranks(ranks):
    return [*LAUNCH[:1], "-n", str(ranks), *LAUNCH[1:]]


def forecast_bytes(case, ranks):
    text = subprocess.run([*on_ranks(ranks), SOLVE, "--config", case, "--check"], check=True,
                          capture_output=True, text=True).stdout
    number, unit = re.search(r"in all +([\d.]+) (\w+)", text).groups()
    return float(number) * UNITS[unit]


def peak_bytes(folder, case, ranks):
    """The largest peak of a rank."""
    subprocess.run([*on_ranks(ranks), sys.executable, "-c", MEASURE, folder, SOLVE, "--config", case, "--output",
                    folder, "--no-cache", "--quiet"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peaks = []
    for rank in range(ranks):
        with open(os.path.join(folder, f"peak.{rank}"), encoding="utf-8") as file:
            peaks.append(int(file.read()))
    return max(peaks)


class MemoryForecast(unittest.TestCase):
    def expect_within_factor(self, problem, rest, ranks=1):
        with self.subTest(problem=problem, rest=rest, ranks=ranks), tempfile.TemporaryDirectory() as folder:
            case = write_case(folder, problem, rest)
            ratio = forecast_bytes(case, ranks) / peak_bytes(folder, case, ranks)
            if os.environ.get("SHOW"):
                print(f"{ratio:.2f}  {problem}  {rest}  {ranks} ranks", flush=True)
            self.assertGreaterEqual(ratio, LEAST)
            self.assertLessEqual(ratio, MOST)

    def test_families(self):
        for problem in ("poisson3d, n: 80", "poisson27, n: 50", "mesh2d, n: 600", "web, n: 300000",
                        "elasticity3d, n: 30"):
            self.expect_within_factor(f"generate: {problem}",
                                      "kernel: albus\nsolver: {method: cg, max_iterations: 5}")

    def test_kernels_and_solvers(self):
        for rest in ("kernel: csr\nsolver: {method: bicgstab, max_iterations: 5}",
                     "kernel: sell\nsolver: {method: cg, max_iterations: 5}",
                     "kernel: albus\nprecision: mixed\nsolver: {method: cg, max_iterations: 5}",
                     "kernel: csr\nsolver: {method: cg, preconditioner: ilu, max_iterations: 5}",
                     "kernel: csr\nsolver: {method: cg, preconditioner: multigrid, max_iterations: 5}"):
            self.expect_within_factor("generate: poisson3d, n: 90", rest)

    def test_right_hand_sides(self):
        self.expect_within_factor("generate: poisson3d, n: 80, rhs: random, rhs_count: 8",
                                  "kernel: albus\nsolver: {method: cg, max_iterations: 5, block: 8}")

    def test_ranks(self):
        for problem in ("poisson3d, n: 80", "web, n: 300000", "elasticity3d, n: 30"):
            for ranks in (2, 3):
                self.expect_within_factor(f"generate: {problem}", RANKED, ranks)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind, n in (("poisson3d", "80"), ("elasticity3d", "30")):
                path = os.path.join(folder, f"{kind}.h5")
                subprocess.run([PROBLEM, "generate", kind, path, "--n", n], check=True, stdout=subprocess.DEVNULL)
                for ranks in (1, 2, 3):
                    self.expect_within_factor(f"file: {path}", RANKED, ranks)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
