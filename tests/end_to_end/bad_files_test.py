#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""solve on HDF5 files that are wrong in one way each: exit code 3 on every rank, in time, with one
line that says what and where, and nothing written.

usage: bad_files_test.py SOLVE RANKS [mpiexec and its flags ...]
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np
import scipy.sparse as sp

SOLVE, RANKS, LAUNCH = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
LIMIT = 5.0  # seconds that an error may take to end every rank
N = 400


class BadFiles(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-bad-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "bad.h5"
        line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(N, N), format="csr")
        self.arrays = {"indptr": line.indptr.astype("i8"), "indices": line.indices.astype("i8"), "data": line.data}
        self.shape = (N, N)
        self.b = np.ones(N)

    def write(self, group="A"):
        with h5py.File(self.path, "w") as file:
            a = file.create_group(group)
            a.attrs.update({"format": "csr", "shape": self.shape})
            for name, array in self.arrays.items():
                a[name] = array
            file["b"] = self.b

    def solve(self, limit):
        case = self.folder / "case.yaml"
        case.write_text("problem: {file: bad.h5, rhs: /b}\n")
        begin = time.monotonic()
        done = subprocess.run([*LAUNCH, SOLVE, "--config", case], cwd=self.folder, text=True, capture_output=True,
                              timeout=limit, stdin=subprocess.DEVNULL)
        return done, time.monotonic() - begin

    def refused(self, *parts):
        try:
            done, seconds = self.solve(60)
            if seconds > LIMIT:  # a busy machine may need a second try, a hang fails both
                done, seconds = self.solve(60)
        except subprocess.TimeoutExpired:
            self.fail("a rank hangs")
        self.assertLess(seconds, LIMIT)
        self.assertEqual(done.returncode, 3, done.stderr + done.stdout)
        lines = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        for part in ("bad.h5", *parts):
            self.assertIn(part, lines[0])
        self.assertFalse((self.folder / "results").exists())

    def test_a_good_file_is_solved(self):
        self.write()
        done, _ = self.solve(60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_missing_file(self):
        self.refused("no such file")

    def test_not_hdf5(self):
        self.path.write_bytes(b"\x93NUMPY" + bytes(500))
        self.refused("is not an HDF5 file")

    def test_truncated(self):
        self.write()
        self.path.write_bytes(self.path.read_bytes()[:5000])
        self.refused("truncated")

    def test_missing_group(self):
        self.write("stiffness")
        self.refused("no group /A", "/stiffness")

    def test_missing_dataset(self):
        del self.arrays["indices"]
        self.write()
        self.refused("/A", "indices is missing")

    def test_wrong_shape(self):
        self.shape = (N + 1, N)
        self.write()
        self.refused("/A/indptr has 401 entries", "needs 402")

    def test_not_square(self):
        self.shape = (N, N + 1)
        self.write()
        self.refused("400 x 401", "square")

    def test_lengths_that_disagree(self):
        self.arrays["data"] = self.arrays["data"][:-1]
        self.write()
        self.refused("/A/data has 1197 entries", "1198")

    def test_indptr_decreases_on_the_last_rank(self):
        self.arrays["indptr"][390] = 3
        self.write()
        self.refused("/A/indptr[390] = 3")

    def test_indptr_ends_elsewhere(self):
        self.arrays["indptr"][N] += 1
        self.write()
        self.refused("/A/indptr[400] = 1199", "1198 nonzeros")

    def test_index_out_of_range_on_the_last_rank(self):
        self.arrays["indices"][1190] = 2**32
        self.write()
        self.refused("/A/indices[1190] = 4294967296 is out of range")

    def test_nan_in_data(self):
        self.arrays["data"][600] = np.nan
        self.write()
        self.refused("/A/data[600] = nan in row 200")

    def test_inf_in_the_right_hand_side(self):
        self.b[399] = np.inf
        self.write()
        self.refused("/b has inf in row 399")

    def test_right_hand_side_of_wrong_length(self):
        self.b = np.ones(N - 1)
        self.write()
        self.refused("/b has the shape [399]", "400 rows")

    def test_missing_right_hand_side(self):
        self.write()
        with h5py.File(self.path, "a") as file:
            del file["b"]
        self.refused("no dataset /b")

    def test_complex_values(self):
        self.arrays["data"] = self.arrays["data"] + 1j
        self.write()
        self.refused("/A/data", "complex")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
