#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The check of a page finds planted faults, each in a page that is right otherwise.

  check_page_test.py ROOT BUILD
"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

from check_page import faults_of
from page import Page

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
GOOD = """# A page

See [here](#a-page) and `src/base/error.hpp`.

```yaml
# case.yaml
problem: {generate: poisson3d, n: 100}
```
```sh
solve --config case.yaml --quiet
```
<!-- not run: needs a GPU -->
```sh
mpirun -n 4 solve --config case.yaml --device cuda
bench/bench-gpu build/release/apps/kernel_bench/kernel_bench results
```
"""


class PlantedFaults(unittest.TestCase):
    def faults(self, old="", new=""):
        self.assertIn(old, GOOD)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            path = pathlib.Path(folder) / "page.md"
            path.write_text(GOOD.replace(old, new, 1))
            found = faults_of(Page(path), ROOT, BUILD)
        self.assertIn("1 blocks ran, 1 did not", said.getvalue())
        return "\n".join(found)

    def test_a_right_page_has_none(self):
        self.assertEqual(self.faults(), "")

    def test_a_link_to_no_heading_and_to_no_file(self):
        self.assertIn("no such heading", self.faults("(#a-page)", "(#no-page)"))
        self.assertIn("does not exist", self.faults("(#a-page)", "(page2.md)"))

    def test_a_path_that_is_not_there(self):
        self.assertIn("'src/base/eror.hpp' does not exist", self.faults("error.hpp", "eror.hpp"))

    def test_an_option_that_is_not_there_also_in_a_block_that_does_not_run(self):
        self.assertIn("solve has no option --quite", self.faults("--quiet", "--quite"))
        self.assertIn("solve has no option --devise", self.faults("--device", "--devise"))

    def test_a_program_and_a_script_that_are_not_there(self):
        self.assertIn("there is no program 'solv'", self.faults("mpirun -n 4 solve", "mpirun -n 4 solv"))
        self.assertIn("there is no script 'bench/bench-gp'", self.faults("bench/bench-gpu", "bench/bench-gp"))

    def test_a_command_that_fails(self):
        self.assertIn("exit code 2", self.faults("n: 100", "n: many"))

    def test_a_field_of_a_schema_that_is_not_explained(self):
        self.assertIn("`peak_memory_bytes`", self.faults(
            "# A page", "# A page\n<!-- names every key of: configs/report.schema.json -->"))

    def test_a_line_that_the_named_file_does_not_have(self):
        self.assertIn("does not stand in", self.faults(
            "```yaml", "<!-- same as: src/base/error.hpp -->\n```cpp\nint no_such_line;\n```\n```yaml"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
