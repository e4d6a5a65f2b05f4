#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program problem from outside; scipy and h5py judge what it reads and writes.

usage: problem_cli_test.py PROBLEM MATRICES RANKS [mpiexec and its flags ...]
"""
import gzip
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp

sys.dont_write_bytecode = True
PROBLEM, MATRICES, RANKS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
LAUNCH = sys.argv[4:]
LIMIT = 10.0  # seconds within which an error must end every rank, even on a busy machine
KINDS = {"poisson2d": 12, "poisson3d": 6, "poisson27": 5, "elasticity3d": 4, "convection3d": 6, "random": 300,
         "rmat": 8, "circuit": 2000, "short": 1000, "web": 2000, "mesh2d": 12, "lognormal": 500, "graph": 500,
         "blocks": 4, "highorder": 8, "bands": 300, "arrow": 300, "diffusion3d": 6, "saddle": 10,
         "denserows": 1000}


class ProblemCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-problem-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "out.h5"

    def problem(self, *arguments, code=0, launch=()):
        done = subprocess.run([*launch, PROBLEM, *map(str, arguments)], text=True, capture_output=True,
                              timeout=LIMIT * 6, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def refused(self, code, *arguments, launch=()):
        """Returns the single error line of a run that leaves no file behind."""
        before = sorted(self.folder.iterdir())
        done = self.problem(*arguments, code=code, launch=launch)
        lines = [line for line in done.stderr.splitlines() if line.startswith("problem: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        return lines[0]

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def read(self, path=None, group="A"):
        """Returns the matrix of the file as scipy reads it."""
        with h5py.File(path or self.out) as file:
            a = file[group]
            self.assertEqual(a.attrs["format"], "csr")
            self.assertEqual(a["jc"], a["indptr"])  # the names that PETSc expects are links
            self.assertEqual(a["ir"], a["indices"])
            self.assertEqual(a.attrs["MATLAB_sparse"], a.attrs["shape"][1])
            return sp.csr_matrix((a["data"][:], a["indices"][:], a["indptr"][:]), shape=tuple(a.attrs["shape"]))

    def assertSame(self, ours, theirs):
        theirs = sp.csr_matrix(theirs).astype(float)
        theirs.sum_duplicates()
        self.assertEqual(ours.shape, theirs.shape)
        np.testing.assert_array_equal(ours.indptr, theirs.indptr)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_array_equal(ours.data, theirs.data)


@unittest.skipIf(RANKS > 1, "import and inspect run on one rank")
class Import(ProblemCase):
    def test_every_shared_matrix_is_what_scipy_reads(self):
        if not MATRICES.is_dir():
            self.skipTest(f"no real matrices: {MATRICES} is missing")
        listed = {}
        for row in (MATRICES / "README.md").read_text().splitlines():
            cells = [cell.strip() for cell in row.split("|")]
            if len(cells) > 4 and cells[2].isdigit():
                listed[cells[1]] = tuple(map(int, cells[2:5]))
        for path in sorted(MATRICES.glob("*.mtx.gz")):
            with self.subTest(path.name):
                self.problem("import", path, self.out, "--rhs", "from-ones")
                ours = self.read()
                self.assertSame(ours, scipy.io.mmread(path))
                self.assertEqual((*ours.shape, ours.nnz), listed[path.name.removesuffix(".mtx.gz")])
                with h5py.File(self.out) as file:
                    sums = abs(ours) @ np.ones(ours.shape[1])
                    difference = abs(file["b"][:] - ours @ np.ones(ours.shape[1]))
                    self.assertTrue(np.all(difference <= 1e-13 * sums))
                    self.assertEqual(len(file["x_exact"]), ours.shape[1])

    def test_plain_and_gzipped_and_every_symmetry(self):
        rng = np.random.default_rng(2)
        half = sp.tril(sp.random(400, 400, 0.05, random_state=3, data_rvs=rng.standard_normal), k=-1)
        for symmetry, matrix in (("symmetric", half + half.T + sp.eye(400)), ("skew-symmetric", half - half.T),
                                 ("general", half)):
            with self.subTest(symmetry):
                path = self.folder / "a.mtx"
                scipy.io.mmwrite(path, matrix, symmetry=symmetry, precision=17)
                self.problem("import", path, self.out)
                self.assertSame(self.read(), scipy.io.mmread(path))
                packed = self.folder / "b.mtx.gz"
                packed.write_bytes(gzip.compress(path.read_bytes()))
                self.problem("import", packed, self.out, "--matrix", "/K/stiffness")
                self.assertSame(self.read(group="K/stiffness"), scipy.io.mmread(path))

    def test_takes_a_right_hand_side_from_a_file(self):
        matrix = self.write("a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 2\n2 1 1\n")
        rhs = self.folder / "rhs.mtx"
        scipy.io.mmwrite(rhs, np.array([[1.0, 3.0], [2.0, 4.0]]))
        self.problem("import", matrix, self.out, "--rhs", rhs)
        with h5py.File(self.out) as file:
            np.testing.assert_array_equal(file["b"], [[1, 3], [2, 4]])

        for name, text in (("b.txt", rhs.read_text()), ("plain.dat", "1 3\n2 4\n")):
            done = self.problem("import", matrix, self.out, "--rhs", self.write(name, text))
            self.assertIn(f"right-hand side in /b ({self.folder / name})", done.stdout)
            with h5py.File(self.out) as file:
                np.testing.assert_array_equal(file["b"], [[1, 3], [2, 4]])

    def test_takes_the_right_hand_side_beside_a_matrix_market_file(self):
        matrix = self.write("a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 2\n2 1 1\n")
        self.assertIn("  right-hand side     none: solve makes b = A 1\n", self.problem("inspect", matrix).stdout)
        self.write("a_b.mtx", "%%MatrixMarket matrix array real general\n2 1\n5\n-1\n")
        self.assertIn("  right-hand side     a_b.mtx\n", self.problem("inspect", matrix).stdout)
        self.assertIn("right-hand side in /b (a_b.mtx)", self.problem("import", matrix, self.out).stdout)
        with h5py.File(self.out, "r+") as file:
            np.testing.assert_array_equal(file["b"], [5, -1])
            del file["b"]
            file["b"], file["x0"] = np.zeros((2, 3)), np.zeros(3)
        text = self.problem("inspect", self.out).stdout
        self.assertIn("  right-hand side     /b, 3 vectors\n", text)
        self.assertIn("  initial guess       /x0 has 3 rows, the matrix 2: solve refuses it\n", text)

    def test_names_the_word_that_was_meant(self):
        for arguments, meant in ((["imprt", "a", "b"], "import"), (["inspect", "a.h5", "--rank", "3"], "--ranks"),
                                 (["cache", "lst"], "list")):
            self.assertIn(f"; did you mean '{meant}'?", self.refused(2, *arguments))

    def test_refuses_bad_input_with_exit_code_3(self):
        good = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n"
        missing = self.folder / "missing.mtx"
        self.assertIn("no such file", self.refused(3, "import", missing, self.out))
        self.assertIn("complex", self.refused(3, "import", self.write(
            "a.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 0\n"), self.out))
        self.assertIn("line 4: the row is out of range",
                      self.refused(3, "import", self.write("a.mtx", good + "3 1 1\n"), self.out))
        rhs = self.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n")
        self.assertIn("the vector has 3 entries, the matrix 2 rows",
                      self.refused(3, "import", self.write("a.mtx", good), self.out, "--rhs", rhs))
        packed = self.folder / "a.mtx.gz"
        packed.write_bytes(gzip.compress(good.encode())[:-9])
        self.assertIn("gzip", self.refused(3, "import", packed, self.out))

    def test_refuses_misuse_with_exit_code_2(self):
        path = self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 0\n")
        self.assertIn("--rhs twos", self.refused(2, "import", path, self.out, "--rhs", "twos"))
        self.assertIn("cannot be written", self.refused(2, "import", path, "/nowhere/out.h5"))
        self.refused(2, "import", path)
        self.refused(2, "importt", path, self.out)
        self.refused(2)

    def test_refuses_to_write_over_its_input(self):
        text = "%%MatrixMarket matrix coordinate real general\n1 1 0\n"
        path, rhs = self.write("a.mtx", text), self.write("b.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n")
        link = self.folder / "link.h5"
        os.link(path, link)
        for output, inputs in ((path, [path]), (link, [path]), (rhs, [path, "--rhs", rhs])):
            self.assertIn("would replace the input", self.refused(2, "import", inputs[0], output, *inputs[1:]))
        self.assertEqual(path.read_text(), text)

    def test_keeps_the_old_file_when_it_fails(self):
        self.out.write_text("precious")
        self.refused(3, "import", self.write("a.mtx", "no\n"), self.out)
        self.assertEqual(self.out.read_text(), "precious")


@unittest.skipIf(RANKS > 1, "import and inspect run on one rank")
class Inspect(ProblemCase):
    def test_tells_what_the_matrix_is_like(self):
        path = self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 6\n"
                                   "1 1 4\n1 2 -1\n2 1 -1\n2 2 0\n4 4 1\n4 1 2\n")
        for file in (path, self.out):
            if file == self.out:
                self.problem("import", path, file)
            text = self.problem("inspect", file, "--ranks", 2).stdout
            self.assertNotIn("after graph partitioning", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
            for fact in (r"shape +4 x 4\n", r"nonzeros +6 ", r"min 0, mean 1.50, max 2", r"empty rows +1\n",
                         r"bandwidth +3 below the diagonal, 1 above", r"pattern +unsymmetric: 1 entries",
                         r"values +unsymmetric: they differ by up to 2, 0.5 of", r"in short +not symmetric, with zeros on the diag",
                         r"diagonal +2 positive, 0 negative, 2 zero or missing \(first: row 1\)",
                         r"dominant rows +2 of 4", r"sizes of rows +1 to 4, a factor of about 2\^2\n",
                         r"without a nonzero +1 rows, 1 columns\n", r"repeated rows +0\n",
                         r"structural rank +3 of 4: singular whatever the values are\n",
                         r"skew part +about 0.[1-4] of the matrix", r"\n +0 +0 +2 +4 +0 +", r"\n +1 +2 +2 +2 +1 +"):
                self.assertRegex(text, fact)

    def test_tells_the_ghosts_before_and_after_graph_partitioning(self):
        self.problem("generate", "mesh2d", self.out, "-n", "60")
        text = self.problem("inspect", self.out, "--ranks", 4, "--distribution", "graph").stdout
        before, after = text.split("after graph partitioning")
        column = slice(58, 71)  # of the ghosts
        ghosts = [int(line[column].replace(" ", ""))
                  for table in (before, after) for line in table.strip().splitlines()[-4:]]
        self.assertGreater(min(ghosts[:4]), 1500)
        self.assertLess(max(ghosts[4:]), 250)
        rectangular = self.write("r.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 4\n")
        self.assertIn("only the rows of a square matrix",
                      self.refused(2, "inspect", rectangular, "--distribution", "graph"))

    def test_tells_what_multigrid_gets_of_the_file(self):
        def near_nullspace(**datasets):
            with h5py.File(self.out, "a") as file:
                for name in ("coordinates", "near_nullspace"):
                    if name in file:
                        del file[name]
                for name, values in datasets.items():
                    file[name] = values
            lines = self.problem("inspect", self.out).stdout.splitlines()
            return [line.split(maxsplit=1)[1] for line in lines if line.strip().startswith("near-nullspace")]

        self.problem("generate", "elasticity3d", self.out, "--n", 3)
        nodes = np.array([[x, y, z] for z in (1, 2, 3) for y in (0, 1, 2) for x in (0, 1, 2)])
        with h5py.File(self.out) as file:
            np.testing.assert_array_equal(file["coordinates"], nodes)
        self.assertEqual(near_nullspace(coordinates=nodes), ["6 rigid-body modes, 27 nodes in /coordinates"])
        self.assertEqual(near_nullspace(), [])
        self.assertEqual(near_nullspace(near_nullspace=np.ones(81)), ["1 vectors in /near_nullspace"])
        with h5py.File(self.out, "a") as file:
            file["coordinates"] = nodes
        self.assertIn("has both /coordinates and /near_nullspace", self.refused(3, "inspect", self.out))

    def test_reads_what_the_how_to_for_python_writes(self):
        location = pathlib.Path(__file__).parents[2] / "cases/real/pyamg_to_hdf5.py"
        spec = importlib.util.spec_from_file_location("how_to", location)
        how_to = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(how_to)
        how_to.write_system(self.out, sp.eye(70, 70, k=3) * 2.5, b=np.ones(70))
        text = self.problem("inspect", self.out).stdout
        self.assertRegex(text, r"shape +70 x 70\n")
        self.assertRegex(text, r"nonzeros +67 ")

    def test_reads_what_h5py_writes(self):
        a = sp.random(50, 30, 0.2, format="csr", random_state=5)
        with h5py.File(self.out, "w") as file:
            group = file.create_group("M")
            group.attrs.update({"format": "csr", "shape": a.shape})
            for name in ("indptr", "indices", "data"):
                group.create_dataset(name, data=getattr(a, name), compression="gzip")
        text = self.problem("inspect", self.out, "--matrix", "/M").stdout
        self.assertRegex(text, r"shape +50 x 30\n")
        self.assertIn("no group /A; give one of: /M", self.refused(3, "inspect", self.out))
        self.assertIn("HDF5 file already", self.refused(3, "import", self.out, self.folder / "other.h5"))


class Generate(ProblemCase):
    def test_every_kind_is_the_same_on_any_number_of_ranks(self):
        alone = self.folder / "alone.h5"
        for kind, n in KINDS.items():
            with self.subTest(kind):
                arguments = ("--n", n, "--k", 5, "--seed", 9, "--rhs", "from-ones")
                self.problem("generate", kind, alone, *arguments)
                self.problem("generate", kind, self.out, *arguments, launch=LAUNCH)
                ours, whole = self.read(self.out), self.read(alone)
                self.assertSame(ours, whole)
                self.assertGreater(ours.nnz, 0)
                with h5py.File(self.out) as file, h5py.File(alone) as other:
                    np.testing.assert_array_equal(file["b"], other["b"])
                    np.testing.assert_array_equal(file["x_exact"], np.ones(ours.shape[0]))
                    self.assertEqual("coordinates" in file, kind == "elasticity3d")
                    if kind == "elasticity3d":
                        np.testing.assert_array_equal(file["coordinates"], other["coordinates"])

    def test_poisson2d_is_the_five_point_stencil(self):
        self.problem("generate", "poisson2d", self.out, "--n", 12, launch=LAUNCH)
        line = sp.diags([-1, 2, -1], [-1, 0, 1], shape=(12, 12))
        self.assertSame(self.read(), sp.kronsum(line, line, format="csr"))

    def test_refuses_misuse_on_every_rank(self):
        self.assertIn("poisson3d", self.refused(2, "generate", "poison3d", self.out, "--n", 5, launch=LAUNCH))
        self.refused(2, "generate", "poisson3d", self.out, "--n", -5, launch=LAUNCH)
        self.refused(2, "generate", "poisson3d", self.out, launch=LAUNCH)
        self.assertIn("cannot be written",
                      self.refused(2, "generate", "poisson3d", "/nowhere/out.h5", "--n", 5, launch=LAUNCH))


class Cache(ProblemCase):
    def test_lists_and_clears_entries_only(self):
        folder = self.folder / "cache"
        self.assertIn("0 entries", self.problem("cache", "list", "--cache", folder).stdout)
        folder.mkdir()
        (folder / "0123456789abcdef0123456789abcdef.trireme").write_text("damaged")
        (folder / "thesis.tex").write_text("precious")
        self.assertIn("is truncated", self.problem("cache", "list", "--cache", folder).stdout)
        self.assertIn("is truncated", self.refused(3, "cache", "explain", "0123", "--cache", folder))
        self.assertIn("begin with 'ff'", self.refused(2, "cache", "explain", "ff", "--cache", folder))
        self.assertIn("1 file removed", self.problem("cache", "clear", "--cache", folder).stdout)
        self.assertEqual([path.name for path in folder.iterdir()], ["thesis.tex"])

    def test_says_what_is_missing(self):
        self.refused(2, "cache")
        environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
        done = subprocess.run([PROBLEM, "cache", "list"], text=True, capture_output=True, env=environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--cache DIR", done.stderr)


class Help(ProblemCase):
    def test_first_screen_shows_a_complete_example(self):
        text = self.problem("--help").stdout
        self.assertIn("problem import", text)
        self.assertIn("solve bcsstk18.h5", text)
        self.assertLessEqual(len(text.splitlines()), 24)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_version(self):
        self.assertRegex(self.problem("--version").stdout, r"^trireme \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
