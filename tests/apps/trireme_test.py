#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program trireme: which program each command starts, with which words, and what it says itself.

usage: trireme_test.py TRIREME

The programs are scripts that print what they were called with.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TRIREME = pathlib.Path(sys.argv[1])
SCRIPT = '#!/bin/sh\necho "$(basename "$0")" "$@"\nexit 5\n'


class Trireme(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trireme-front-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.program = self.folder / "bin/trireme"
        self.program.parent.mkdir()
        shutil.copy(TRIREME, self.program)

    def add(self, place):
        path = self.folder / place
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(SCRIPT)
        path.chmod(0o755)
        return path

    def call(self, *words, **environment):
        return subprocess.run([self.program, *words], capture_output=True, text=True, timeout=20,
                              env=os.environ | environment)

    def started(self, *words):
        done = self.call(*words)
        self.assertEqual((done.returncode, done.stderr), (5, ""), "the exit code of the program")
        return done.stdout.strip()

    def refused(self, code, *words, **environment):
        done = self.call(*words, **environment)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr

    def test_each_command_starts_its_program(self):
        for name in ("solve", "problem", "kernel_bench"):
            self.add(f"libexec/trireme/{name}")
        for words, call in [("solve a.mtx --rtol 1e-3 -- -ksp_view", "solve a.mtx --rtol 1e-3 -- -ksp_view"),
                            ("solve --help solver", "solve --help solver"),
                            ("study s.yaml --again", "solve --study s.yaml --again"),
                            ("report compare a b", "solve --compare a b"),
                            ("report figures f a", "solve --figures f a"),
                            ("problem inspect a.h5", "problem inspect a.h5"),
                            ("bench poisson3d --n 8", "kernel_bench poisson3d --n 8"),
                            ("help bench", "kernel_bench --help"),
                            ("help solve solver.rtol", "solve --help solver.rtol"),
                            ("study --help", "solve --help"),
                            ("report -h", "solve --help")]:
            with self.subTest(words=words):
                self.assertEqual(self.started(*words.split()), call)

    def test_takes_words_as_they_are(self):
        self.add("libexec/trireme/solve")
        self.assertEqual(self.started("solve", "a b", "*"), "solve a b *")

    def test_finds_programs_beside_itself_and_in_a_folder_of_the_build(self):
        self.add("solve/solve")
        self.assertEqual(self.started("solve"), "solve")
        self.add("bin/solve").write_text(SCRIPT.replace("exit 5", "exit 6"))
        self.assertEqual(self.call("solve").returncode, 6, "the program beside it comes first")

    def test_is_found_through_a_link(self):
        self.add("libexec/trireme/solve")
        link = self.folder / "link"
        link.symlink_to(self.program)
        self.program = link
        self.assertEqual(self.started("solve"), "solve")

    def test_a_missing_program_is_127_in_one_line(self):
        line = self.refused(127, "solve")
        self.assertEqual(line, f"trireme: the program solve is not there: {self.folder}/libexec/trireme/solve; "
                               "install Trireme again\n")
        self.add("libexec/trireme/solve").write_text("no program")
        self.assertIn("cannot be started", self.refused(127, "solve"))

    def test_wrong_commands_are_2_in_one_line(self):
        for words, said in [("", "no command given"), ("slove", "no command 'slove'; did you mean 'solve'?"),
                            ("matrix.mtx", "no command 'matrix.mtx'; see"), ("help studdy", "did you mean 'study'?"),
                            ("report", "two commands: trireme report compare A.json B.json"),
                            ("study --again s.yaml", "files come first: trireme study FILE"),
                            ("study", "files come first"), ("report compare", "files come first")]:
            with self.subTest(words=words):
                line = self.refused(2, *words.split())
                self.assertIn(said, line)
                self.assertEqual(line.count("\n"), 1)

    def test_one_rank_of_a_job_says_what_is_wrong(self):
        self.assertIn("slove", self.refused(2, "slove", OMPI_COMM_WORLD_RANK="0"))
        self.assertEqual(self.refused(2, "slove", OMPI_COMM_WORLD_RANK="1"), "")

    def test_prints_its_help_and_its_version(self):
        for words in (["--help"], ["-h"], ["help"]):
            done = self.call(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("  bench ", done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        self.assertRegex(self.call("--version").stdout, r"^trireme \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
