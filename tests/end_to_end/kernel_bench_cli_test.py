#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program kernel_bench from outside: its table, its JSON and its error lines.

usage: kernel_bench_cli_test.py KERNEL_BENCH PROBLEM
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

KERNEL_BENCH, PROBLEM = sys.argv[1:3]
# The GPUs are hidden, because these tests are about the CPU.
ENVIRONMENT = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
KEYS = {"kernel", "device", "precision", "rows", "cols", "nnz", "build_ms", "median_us", "p05_us", "p95_us",
        "cold_us", "gflops", "gbytes_per_s", "bandwidth_fraction", "bytes", "max_error", "deterministic"}


class KernelBench(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-bench-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def bench(self, *arguments, code=0):
        done = subprocess.run([KERNEL_BENCH, *map(str, arguments)], cwd=self.folder, text=True, timeout=60,
                              capture_output=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def refused(self, code, *arguments):
        """Returns the single error line of a run."""
        done = self.bench(*arguments, code=code)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Akernel_bench: [^\n]+\n\Z")
        return done.stderr

    def measured(self, *arguments):
        self.bench(*arguments, "--seconds", 0, "--json", "x.json")
        return json.loads((self.folder / "x.json").read_text())

    def test_every_kernel_of_the_cpu_is_right_and_measured(self):
        for precision in ("double", "float", "int", "mixed"):
            rows = self.measured("poisson2d", "--n", 30, "--precision", precision)
            names = [row["kernel"] for row in rows]
            self.assertIn("csr", names)
            self.assertIn("albus", names)
            for row in rows:
                self.assertGreaterEqual(row.keys(), KEYS)
                self.assertEqual((row["device"], row["precision"]), ("cpu", precision))
                self.assertEqual((row["rows"], row["cols"], row["nnz"]), (900, 900, 4380))
                self.assertLessEqual(row["max_error"], 1)
                self.assertGreater(row["median_us"], 0)
                self.assertGreaterEqual(row["update_us"], 0)

    def test_several_vectors_at_once(self):
        for precision, kernels in (("double", "all"), ("int", "csr,albus"), ("mixed", "csr,albus")):
            rows = self.measured("poisson2d", "--n", 20, "--precision", precision, "--vectors", 3,
                                 "--kernels", kernels)
            csr = next(row for row in rows if row["kernel"] == "csr")
            self.assertEqual((csr["vectors"], csr["nnz"], csr["precision"]), (3, 1920, precision))
            self.assertGreater(csr["together_us"], 0)
            for row in rows:
                self.assertLessEqual(row["max_error"], 1)
                self.assertGreater(row["singles_us"], 0)

    def test_a_file_and_some_kernels(self):
        subprocess.run([PROBLEM, "generate", "circuit", "--n", "500", self.folder / "c.h5", "--matrix", "/K"],
                       check=True, capture_output=True)
        rows = self.measured("c.h5", "--matrix", "/K", "--kernels", "teb,csr")
        self.assertEqual([row["kernel"] for row in rows], ["teb", "csr"])

    def test_a_file_of_another_format(self):
        (self.folder / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 3\n")
        row, = self.measured("a.mtx", "--kernels", "csr")
        self.assertEqual((row["rows"], row["nnz"]), (2, 2))

    def test_a_kernel_that_refuses_the_matrix(self):
        entries = [(1, column) for column in range(1, 301)] + [(row, row) for row in range(2, 301)]
        lines = "".join(f"{row} {column} 1\n" for row, column in entries)
        (self.folder / "a.mtx").write_text(
            f"%%MatrixMarket matrix coordinate real general\n300 300 {len(entries)}\n" + lines)
        done = self.bench("a.mtx", "--kernels", "csr,ell", "--seconds", 0, "--json", "x.json")
        self.assertIn("\nell: kernel 'ell' would pad 300 rows to the 300 nonzeros", done.stdout)
        self.assertEqual([row["kernel"] for row in json.loads((self.folder / "x.json").read_text())], ["csr"])
        self.assertIn("nothing was measured: ell: ", self.refused(4, "a.mtx", "--kernels", "ell"))
        done = self.bench("a.mtx", "--kernels", "csr,ell", "--seconds", 0, "--vectors", 2)
        self.assertIn("\nell: kernel 'ell' would pad 300 rows", done.stdout)
        self.assertIn("nothing was measured: ell: ", self.refused(4, "a.mtx", "--kernels", "ell", "--vectors", 2))

    def test_help_and_version(self):
        self.assertLessEqual(max(map(len, self.bench("--help").stdout.splitlines())), 80)
        self.assertRegex(self.bench("--version").stdout, r"^trireme \d+\.\d+\.\d+\n$")

    def test_refusals(self):
        small = ("poisson2d", "--n", 4)
        self.assertIn("--help", self.refused(2))
        self.assertIn("did you mean 'poisson3d'?", self.refused(2, "poison3d"))
        self.assertIn("no such file", self.refused(3, "missing.h5"))
        (self.folder / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
        self.assertIn("would replace the input", self.refused(2, "a.mtx", "--json", self.folder / "a.mtx"))
        self.assertIn("solve --list-kernels", self.refused(2, *small, "--kernels", "cusparse-csr"))
        self.assertIn("known kernels: csr", self.refused(2, *small, "--kernels", "none"))
        self.assertIn("use double", self.refused(2, *small, "--precision", "quad"))
        self.assertIn("--seconds", self.refused(2, *small, "--seconds", -1))
        self.assertIn("--vectors", self.refused(2, *small, "--vectors", 0))
        self.assertIn("device: cpu", self.refused(4, *small, "--vectors", 2, "--device", "cuda"))
        self.assertIn("known: cpu, cuda", self.refused(2, *small, "--device", "gpu"))
        self.assertIn("device: cpu", self.refused(4, *small, "--device", "cuda"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
