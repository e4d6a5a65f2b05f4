#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_names.py finds each kind of fault in a small tree that has this one fault only."""
import contextlib
import io
import pathlib
import shutil
import tempfile
import unittest

import check_names

PLACES = """It stands in four places:

- `{own}`: the text
- `include/trireme/petsc.h`: the type
- `docs/running.md`: for cases
- `docs/how-to/use-from-petsc.md`: for PETSc

## 1. The header
"""
SOUND = {
    "src/solvers/methods/minres.hpp": 'MethodInfo info{.name = "minres", .petsc_name = "minres"};\n',
    "src/solvers/preconditioners/chebyshev.hpp": '.names = {{{"trireme_chebyshev", "trireme_chebyshev", ""}}};\n',
    "src/petsc/types.cpp": '#include "minres"\n// "minres"\nfail("use method minres");\n',
    "include/trireme/petsc.h": '#define KSPTRIREMEMINRES "trireme_minres"\n#define PCTRIREMECHEBYSHEV "trireme_chebyshev"\n',
    "docs/running.md": "`minres` `trireme_chebyshev`\n",
    "docs/how-to/use-from-petsc.md": "`trireme_minres` `trireme_chebyshev`\n",
    "docs/how-to/add-a-method.md": PLACES.format(own="src/solvers/methods/minres.hpp"),
    "docs/how-to/add-a-preconditioner.md": PLACES.format(own="src/solvers/preconditioners/chebyshev.hpp"),
}


class CheckNames(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="trireme-names-"))
        self.addCleanup(shutil.rmtree, self.root)
        allowed, check_names.ALLOWED = check_names.ALLOWED, {}
        self.addCleanup(setattr, check_names, "ALLOWED", allowed)
        for name, text in SOUND.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = check_names.main(self.root)
        return code, printed.getvalue()

    def assert_one_fault(self, fault):
        code, printed = self.check()
        self.assertEqual(code, 1, printed)
        self.assertIn(fault, printed)
        self.assertRegex(printed, r"\n1 faults\n$")

    def test_a_sound_tree_has_no_fault(self):
        self.assertEqual(self.check(), (0, "0 faults\n"))

    def test_a_tree_without_lists_does_not_pass(self):
        shutil.rmtree(self.root / "src/solvers/methods")
        self.assert_one_fault("no names were found")

    def test_a_name_outside_its_entry(self):
        for word in ("minres", "trireme_minres", "trireme_chebyshev"):
            self.write("src/app/choice.cpp", f'return name == "{word}";\n')
            self.assert_one_fault(f'src/app/choice.cpp: "{word}" belongs to its entry')

    def test_a_list_of_names_in_a_message(self):
        self.write("src/app/choice.cpp", 'fail("is none of minres "\n     "and trireme_chebyshev");\n')
        self.assert_one_fault('"minres and trireme_chebyshev" lists names by hand')

    def test_a_name_that_travels_as_a_string(self):
        for variable in ("std::string preconditioner;", "void f(const std::string& of_preconditioner);",
                         "std::optional<std::string> preconditioner;", "std::string_view preconditioner = given;"):
            self.write("src/app/choice.hpp", f"{variable}\n")
            self.assert_one_fault("src/app/choice.hpp: the string `")
        self.write("src/app/choice.hpp", "")
        self.write("src/report/outcome.hpp", "std::string preconditioner;  // words for readers\n")
        self.assertEqual(self.check()[0], 0)

    def test_an_allowed_word_that_has_gone(self):
        check_names.ALLOWED = {("src/app/choice.cpp", "minres"): "a test"}
        self.write("src/app/choice.cpp", 'return "minres";\n')
        self.assertEqual(self.check()[0], 0)
        self.write("src/app/choice.cpp", "")
        self.assert_one_fault("which no longer has it")

    def test_a_type_that_the_header_lacks_or_has_beyond_the_lists(self):
        self.write("include/trireme/petsc.h", SOUND["include/trireme/petsc.h"].splitlines()[0])
        self.assert_one_fault("petsc.h: trireme_chebyshev is missing")
        self.write("include/trireme/petsc.h", SOUND["include/trireme/petsc.h"] + '#define PCTRIREMEILU "trireme_ilu"\n')
        self.assert_one_fault("trireme_ilu is not a type of the lists")

    def test_a_page_without_a_name(self):
        self.write("docs/running.md", "`minres`\n")
        self.assert_one_fault("docs/running.md: `trireme_chebyshev` is missing")

    def test_a_recipe_that_counts_wrongly_or_leaves_a_place_out(self):
        recipe = "docs/how-to/add-a-method.md"
        self.write(recipe, SOUND[recipe].replace("four", "five"))
        self.assert_one_fault("says five places and names 4")
        self.write(recipe, SOUND[recipe].replace("four", "three").replace("- `docs/running.md`: for cases\n", ""))
        self.assert_one_fault("docs/running.md has minres, and the recipe does not name it")
        self.write(recipe, "no sentence\n")
        self.assert_one_fault("no sentence says how many places")


if __name__ == "__main__":
    unittest.main()
