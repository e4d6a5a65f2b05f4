#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the build writes from the tables of options and keys: completions complete, man pages are well formed.

usage: pages_test.py PAGES_FOLDER SOLVE

bash is asked for completions. zsh and fish only read their scripts, where they are installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PAGES, SOLVE = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
ASK = """source "$1"; shift
for line; do
  COMP_LINE=$line COMP_POINT=${#line}
  _trireme
  echo "${COMPREPLY[*]}"
done
"""


def completions(*lines, folder="."):
    """What bash offers after each line."""
    done = subprocess.run(["bash", "-uc", ASK, "ask", PAGES / "bash/trireme", *lines], cwd=folder, text=True,
                          capture_output=True, check=True)
    assert done.stderr == "", done.stderr
    return [line.split() for line in done.stdout.splitlines()]


class Bash(unittest.TestCase):
    def expect(self, expected, folder="."):
        for line, words in zip(expected, completions(*expected, folder=folder)):
            with self.subTest(line=line):
                self.assertEqual(sorted(words), sorted(expected[line].split()))

    def test_completes_commands_and_options(self):
        self.expect({"trireme s": "solve study", "trireme problem g": "generate", "problem cache ": "list explain clear",
                     "trireme solve --rt": "--rtol", "solve --check --pres": "--preset",
                     "trireme study s.yaml --ag": "--again", "problem inspect a.h5 --di": "--distribution",
                     "trireme bench --ke": "--kernels", "trireme report ": "compare figures", "trireme --v": "--version"})

    def test_completes_values(self):
        self.expect({"trireme solve --method bi": "bicgstab bicgstab2", "solve --preconditioner mul": "multigrid",
                     "solve --device c": "cpu cuda", "solve --progress=p": "plain", "solve --x0 no": "none",
                     "problem generate poisson": "poisson2d poisson3d poisson27", "trireme bench --device cu": "cuda",
                     "problem import a.mtx b.h5 --rhs r": "random", "solve --kernel csr,petsc": "csr,petsc-aij",
                     "solve --rtol ": "", "solve a.h5 -- ": ""})

    def test_completes_keys_and_their_values(self):
        self.expect({"solve --set solver.rto": "solver.rtol=", "trireme solve a.h5 --set solver.preconditioner=mul": "multigrid",
                     "solve --set=reproducible=f": "false", "solve --help solver.rto": "solver.rtol",
                     "trireme help solve solver.rto": "solver.rtol"})

    def test_completes_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.mtx", "a.mtx.gz", "a.h5", "a.txt", "case.yaml"):
                (pathlib.Path(folder) / name).touch()
            (pathlib.Path(folder) / "a.folder").mkdir()
            self.expect({"solve a": "a.mtx a.mtx.gz a.h5 a.folder", "trireme solve --rhs a.t": "a.txt",
                         "solve --config c": "case.yaml", "solve --output a": "a.folder",
                         "trireme report compare a.h5 c": "case.yaml", "problem inspect a.m": "a.mtx a.mtx.gz"}, folder)

    def test_knows_every_option_of_the_help(self):
        known = completions("solve --")[0]
        text = subprocess.run([SOLVE, "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"^  (?:-h,)?(--[\w-]+)", text, re.MULTILINE))
        self.assertGreater(len(options), 20)
        self.assertEqual(options - set(known), set())

    def test_knows_every_kernel(self):
        text = subprocess.run([SOLVE, "--list-kernels"], capture_output=True, text=True, check=True).stdout
        known = completions("solve --kernel ")[0]
        for kernel in ("csr", "albus", "sell", "petsc-aij"):
            self.assertIn(kernel, known)
            self.assertIn(kernel, text)


class Others(unittest.TestCase):
    def check(self, shell, script):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        done = subprocess.run([shell, "-n", PAGES / script], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_zsh_reads_its_script(self):
        self.check("zsh", "zsh/_trireme")

    def test_fish_reads_its_script(self):
        self.check("fish", "fish/trireme.fish")

    def test_both_know_keys_and_their_values(self):
        for script in ("zsh/_trireme", "fish/trireme.fish"):
            text = (PAGES / script).read_text()
            for word in ("solver.multigrid.smoother", "bicgstab2", "poisson27", "rtol"):
                self.assertIn(word, text)


class ManPages(unittest.TestCase):
    def test_are_well_formed(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        pages = [*PAGES.glob("man1/*.1"), *PAGES.glob("man5/*.5")]
        self.assertEqual(sorted(page.name for page in pages),
                         ["trireme-bench.1", "trireme-case.5", "trireme-problem.1", "trireme-solve.1", "trireme.1"])
        for page in pages:
            done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", page], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def test_have_every_option_and_every_key(self):
        solve = (PAGES / "man1/trireme-solve.1").read_text().replace("\\-", "-")
        for option in completions("solve --")[0]:
            self.assertIn(f"\\fB{option}\\fR", solve)
        case = (PAGES / "man5/trireme-case.5").read_text()
        for key in completions("solve --help ")[0]:
            self.assertIn(f"\n.SS {key}\n", case)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
