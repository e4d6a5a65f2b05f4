#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Systems that are bad for graph partitioning are solved, or refused with one line and an exit code.

usage: partition_test.py SOURCE SOLVE PROBLEM RANKS [mpirun and its flags ...]
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np
import scipy.sparse

SOLVE, RANKS, LAUNCH = sys.argv[2], int(sys.argv[4]), sys.argv[5:]
PATIENCE = 60.0  # seconds after which a run counts as hanging


def spd(graph):
    """A positive definite matrix with the edges of a graph."""
    edges = abs(graph) + abs(graph.T)
    return scipy.sparse.csr_matrix(scipy.sparse.diags(np.asarray(edges.sum(axis=1)).ravel() + 1.0) - edges)


class Partition(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-partition-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_solve(self, matrix, *settings):
        with h5py.File(self.folder / "system.h5", "w") as file:
            group = file.create_group("A")
            group.attrs["format"], group.attrs["shape"] = "csr", matrix.shape
            group["indptr"], group["indices"] = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
            group["data"] = matrix.data.astype(np.float64)
        (self.folder / "case.yaml").write_text(
            "problem: {file: system.h5, matrix: /A, rhs: ones}\nkernel: csr\ndevice: cpu\ndistribution: graph\n")
        command = [*LAUNCH, SOLVE, "--config", "case.yaml", "--quiet"]
        for setting in settings:
            command += ["--set", setting]
        try:
            return subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=PATIENCE,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            self.fail("hangs")

    def solves(self, matrix, *settings):
        done = self.run_solve(matrix, *settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "results" / "solution.h5") as file:
            x = file["x"][:]
        np.testing.assert_allclose(matrix @ x, np.ones(matrix.shape[0]), atol=1e-6)

    def refuses(self, code, text, matrix, *settings):
        done = self.run_solve(matrix, *settings)
        lines = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
        self.assertEqual((done.returncode, len(lines)), (code, 1), done.stderr)
        self.assertIn(text, lines[0])

    def test_fewer_rows_than_ranks(self):
        for rows in (1, 2, 4):
            with self.subTest(rows=rows):
                self.solves(spd(scipy.sparse.csr_matrix(np.eye(rows, k=1))))

    def test_no_rows_at_all(self):
        done = self.run_solve(scipy.sparse.csr_matrix((0, 0)))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_diagonal_matrix_whose_graph_has_no_edge(self):
        self.solves(scipy.sparse.csr_matrix(scipy.sparse.diags(np.linspace(1, 3, 100))))

    def test_rows_without_entries(self):
        self.refuses(6, "its rank is 0 of 50", scipy.sparse.csr_matrix((50, 50)))
        self.refuses(3, "row 0", scipy.sparse.csr_matrix((50, 50)), "solver.method=cg")

    def test_many_disconnected_parts_and_single_rows(self):
        triangle = spd(scipy.sparse.csr_matrix(np.ones((3, 3)) - np.eye(3)))
        parts = scipy.sparse.block_diag([triangle] * 30 + [scipy.sparse.identity(1)] * 7, format="csr")
        self.solves(parts)

    def test_a_dense_row_without_its_column(self):
        matrix = scipy.sparse.lil_matrix(4.0 * scipy.sparse.identity(300))
        matrix[123, :] = 0.01
        matrix[123, 123] = 4.0
        self.solves(scipy.sparse.csr_matrix(matrix), "solver.method=bicgstab")

    def test_a_dense_row_and_its_column(self):
        star = scipy.sparse.lil_matrix((300, 300))
        star[7, :] = 1.0
        star[7, 7] = 0.0
        self.solves(spd(scipy.sparse.csr_matrix(star)))

    def test_a_rectangular_matrix(self):
        self.refuses(3, "needs a square matrix", scipy.sparse.csr_matrix(np.ones((7, 9))))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
