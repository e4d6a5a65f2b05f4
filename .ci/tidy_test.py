#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Faults that are planted into files are found by .ci/tidy, also in files that are checked as one."""
import json
import pathlib
import subprocess
import tempfile
import unittest

CI = pathlib.Path(__file__).resolve().parent
CLEAN = "namespace { int twice(int v) { return 2 * v; } }\nint NAME() { return twice(1); }\n"


class Tidy(unittest.TestCase):
    def tidy(self, **texts):
        with tempfile.TemporaryDirectory(prefix="trireme-tidy-") as name:
            folder = pathlib.Path(name)
            (folder / "src").mkdir()
            (folder / ".clang-tidy").write_text((CI.parent / ".clang-tidy").read_text())
            for file, text in texts.items():
                (folder / "src" / f"{file}.cpp").write_text(text)
            (folder / "compile_commands.json").write_text(json.dumps([
                {"directory": name, "file": str(path), "command": f"c++ -std=c++20 -o {path}.o -c {path}"}
                for path in (folder / "src").iterdir()]))
            return subprocess.run([CI / "tidy", folder, folder / "src"], text=True, capture_output=True)

    def test_clean_files_may_use_one_name_twice(self):
        done = self.tidy(first=CLEAN.replace("NAME", "first"), second=CLEAN.replace("NAME", "second"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_faults_are_found_in_each_file_of_a_group(self):
        # The files declare different names. A name that two of them declared would itself be a
        # finding of the group, after which each file is checked on its own.
        for fault, check in (("int* p() { return 0; }", "modernize-use-nullptr"),
                             ("struct A { A(int); };", "google-explicit-constructor"),
                             ("namespace b = second;", "unused-name"),
                             ("#include <cstddef>\nusing std::size_t;", "unused-name")):
            with self.subTest(check):
                clean = {name: f"namespace {name} {{ int f(); }}\n" for name in ("first", "second", "third")}
                done = self.tidy(**{**clean, "second": clean["second"] + fault})
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stdout, rf"second\.cpp.*{check}")
                self.assertIn("3 files, 1 with findings", done.stdout)

    def test_a_fault_is_found_beside_a_file_that_uses_the_same_name(self):
        done = self.tidy(first=CLEAN.replace("NAME", "first"), second=CLEAN.replace("NAME", "second") + "int* p = 0;\n")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"second\.cpp.*modernize-use-nullptr")


if __name__ == "__main__":
    unittest.main()
