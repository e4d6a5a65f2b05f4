# SPDX-License-Identifier: BSD-3-Clause
"""A test that runs the program solve in a folder of its own.

The scripts that use it take: SOURCE_FOLDER SOLVE PROBLEM RANKS [mpiexec and its flags ...]
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE, SOLVE, PROBLEM, RANKS = (pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
LAUNCH = sys.argv[5:]
LIMIT = 5.0  # seconds within which an error must end every rank

POISSON = "problem: {generate: poisson3d, n: 8}\n"


class SolveCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-solve-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.results = self.folder / "results"

    def case(self, text, name="case.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def run_solve(self, *arguments, limit=60.0, given=""):
        """Runs solve in the folder of the test, `given` on its standard input. A second try helps on a busy machine; a hang fails both tries."""
        for attempt in (1, 2):
            begin = time.monotonic()
            try:
                done = subprocess.run([*LAUNCH, SOLVE, *map(str, arguments)], cwd=self.folder, text=True,
                                      capture_output=True, timeout=limit,
                                      **({"input": given} if given else {"stdin": subprocess.DEVNULL}))
            except subprocess.TimeoutExpired:
                if attempt == 2:
                    self.fail(f"still running after {limit} s: solve {arguments}")
                continue
            done.seconds = time.monotonic() - begin
            return done

    def solve(self, text, *arguments, code=0):
        done = self.run_solve("--config", self.case(text), *arguments)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def report(self):
        return json.loads((self.results / "report.json").read_text())

    def refused(self, code, *arguments):
        """Returns the single error line of a run that ends every rank in time and leaves no file behind."""
        done = self.run_solve(*arguments, limit=LIMIT)
        lines = [line for line in done.stderr.splitlines() if line.startswith("solve: ")]
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertEqual(done.stdout.strip(), "")
        self.assertFalse(self.results.exists(), "something was written")
        return lines[0]

    def refused_case(self, code, text, *arguments):
        return self.refused(code, "--config", self.case(text), *arguments)

    def matrix(self, entries, n, name="matrix"):
        """Writes an HDF5 file with a matrix of (row, column, value) triplets, counted from 1."""
        market = self.folder / f"{name}.mtx"
        market.write_text("%%MatrixMarket matrix coordinate real general\n"
                          f"{n} {n} {len(entries)}\n" + "".join(f"{i} {j} {v}\n" for i, j, v in entries))
        subprocess.run([PROBLEM, "import", market, self.folder / f"{name}.h5"], check=True, capture_output=True)
        return f"{name}.h5"
