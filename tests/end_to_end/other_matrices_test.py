#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The matrices of bench/other-matrices at a small scale: their files, and their products by two kernels.

usage: other_matrices_test.py OTHER_MATRICES KERNEL_BENCH
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

OTHER_MATRICES, KERNEL_BENCH = sys.argv[1:3]
EXACT_IN_FP32 = {"bibliographic", "multicommodity", "transport"}
NOT_SQUARE = EXACT_IN_FP32 | {"staircase"}


class OtherMatrices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-other-matrices-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.matrices = cls.made(cls.folder / "all", "--scale", "0.001")

    @staticmethod
    def run_script(*arguments):
        return subprocess.run([sys.executable, OTHER_MATRICES, *map(str, arguments), "--jobs", "2"], text=True,
                              timeout=60, capture_output=True)

    @classmethod
    def made(cls, folder, *arguments):
        """Returns {file: (rows, columns, nonzeros)} as the script prints them."""
        done = cls.run_script(folder, *arguments)
        if done.returncode:
            raise AssertionError(done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()[1:]]
        return {folder / f"{name}.h5": tuple(map(int, sizes)) for name, *sizes, _ in lines}

    def test_there_is_a_file_for_every_line(self):
        self.assertEqual(set(self.matrices), set((self.folder / "all").iterdir()))
        self.assertEqual(len(self.matrices), 19)

    def test_columns_of_a_row_ascend_and_values_are_as_said(self):
        for file, (rows, columns, nnz) in self.matrices.items():
            with self.subTest(file.stem), h5py.File(file) as opened:
                group = opened["A"]
                row_ptr, indices, values = (group[name] for name in ("indptr", "indices", "data"))
                self.assertEqual((indices.dtype, indices.chunks, values.chunks), (np.int32, None, None))
                row = np.repeat(np.arange(rows), np.diff(row_ptr[:]))
                self.assertEqual(len(row), nnz)
                self.assertTrue((np.diff(row * columns + indices[:]) > 0).all())
                self.assertTrue((values[:] != 0).all())
                self.assertEqual(bool((values[:] == values[:].astype(np.float32)).all()), file.stem in EXACT_IN_FP32)
                self.assertEqual(rows != columns, file.stem in NOT_SQUARE)

    def test_kernels_multiply_every_matrix_right(self):
        for file, sizes in self.matrices.items():
            with self.subTest(file.stem):
                done = subprocess.run([KERNEL_BENCH, file, "--kernels", "albus,csr", "--seconds", "0",
                                       "--json", "x.json"], cwd=self.folder, text=True, timeout=60, capture_output=True,
                                      env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
                measured = json.loads((self.folder / "x.json").read_text())
                self.assertEqual([row["kernel"] for row in measured], ["albus", "csr"])
                for row in measured:
                    self.assertEqual((row["rows"], row["cols"], row["nnz"]), sizes)
                    self.assertLessEqual(row["max_error"], 1)

    def test_a_second_run_makes_the_same_matrix(self):
        again = self.made(self.folder / "again", "--scale", "0.001", "--only", "road,particle")
        self.assertEqual(len(again), 2)
        for file in again:
            self.assertEqual(file.read_bytes(), (self.folder / "all" / file.name).read_bytes())

    def test_an_unknown_kind_is_refused(self):
        done = self.run_script(self.folder / "none", "--only", "road,railway")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown kind 'railway'", done.stderr)
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
