#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where the name of a method or a preconditioner stands outside its entry in the lists.

usage: check_names.py SOURCE_FOLDER

The owners of names are the headers of src/solvers/methods/ and src/solvers/preconditioners/. Other
sources ask the lists for facts, and make lists of names from them. The script also checks that the
pages and the public header that readers look names up in have all of them, and that the recipes for
adding one name all files that such a name stands in, and that no variable outside the reports holds
the name of a preconditioner as a string. It prints one line per fault and exits with 1 when there is a
fault or when there is no name to check.
"""
import pathlib
import re
import sys

METHODS, PRECONDITIONERS = "src/solvers/methods", "src/solvers/preconditioners"
SOURCES = {".hpp", ".cpp", ".cu", ".cuh"}
# A word that is spelt like a name and means something else, or the documented default.
ALLOWED = {
    ("apps/solve/arguments.hpp", "none"): "no progress",
    ("src/app/kept/cached_hierarchies.cpp", "multigrid"): "a word of the key of a cached hierarchy",
    ("src/base/choices.hpp", "jacobi"): "a smoother of multigrid",
    ("src/base/choices.hpp", "none"): "no scaling",
    ("src/config/case.hpp", "cg"): "the method of a solver for which no ladder has chosen one",
    ("src/config/case.hpp", "none"): "no dataset",
    ("src/petsc/mat/mat_entries.cpp", "none"): "a Mat without a type",
    ("src/report/html_multigrid.cpp", "multigrid"): "a section of the report",
    ("src/report/run_figures.cpp", "multigrid"): "a key of the report",
    ("src/report/table.cpp", "multigrid"): "a line of the terminal",
}
# A variable, member or parameter that is a string and called a preconditioner. Reports hold words
# for readers.
STRING = re.compile(r"\bstring(?:_view)?>?\s*&?\s*(\w*preconditioner)\s*[,;)={]")
OF_WORDS = "src/report/"
# Where readers look names up.
PAGES = ("docs/running.md", "docs/how-to/use-from-petsc.md")
HEADER = "include/trireme/petsc.h"
# The recipes, and an entry of each list that stands where every entry does.
RECIPES = {"docs/how-to/add-a-method.md": ("minres", "trireme_minres"),
           "docs/how-to/add-a-preconditioner.md": ("trireme_chebyshev",)}
COUNT = {word: k for k, word in enumerate("no one two three four five six seven eight nine ten".split())}


def code_of(path: pathlib.Path) -> str:
    return re.sub(r"//[^\n]*", "", path.read_text())


def literals(text: str) -> list:
    """The strings of the code; those that follow each other are one string to the compiler."""
    joined = re.sub(r'"\s*\n\s*"', "", text)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', "\n".join(
        line for line in joined.splitlines() if not line.lstrip().startswith("#include")))


def methods_of(root: pathlib.Path) -> set:
    text = "\n".join(code_of(p) for p in sorted((root / METHODS).glob("*.hpp")))
    return set(re.findall(r'\.name\s*=\s*"(\w+)"', text))


def preconditioners_of(root: pathlib.Path) -> list:
    """The (name, type in the resident loop, type in PETSc's loops) of the list."""
    text = "\n".join(code_of(p) for p in sorted((root / PRECONDITIONERS).glob("*.hpp")))
    rows = re.findall(r'\{+\s*"(\w+)",\s*"(\w+)",\s*"(\w*)"', text)
    return sorted(set(rows))


def faults(root: pathlib.Path):
    methods, rows = methods_of(root), preconditioners_of(root)
    if not methods or not rows:
        yield "no names were found in the lists"
        return
    names = methods | {row[0] for row in rows}
    types = {f"trireme_{m}" for m in methods} | {t for row in rows for t in row if t.startswith("trireme_")}
    words = names | types
    one = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    listed = re.compile(rf"\b({one})(?:, | and | or |, or |, and )({one})\b")
    used, places = set(), {}
    for path in sorted(p for top in ("src", "apps") for p in (root / top).rglob("*") if p.suffix in SOURCES):
        place = path.relative_to(root).as_posix()
        owner = place.startswith((METHODS, PRECONDITIONERS))
        if not place.startswith(OF_WORDS):
            for variable in STRING.findall(code_of(path)):
                yield f"{place}: the string `{variable}` holds a name; let it be an AnyPreconditioner"
        for literal in literals(code_of(path)):
            if literal in words:
                places.setdefault(literal, set()).add(place)
                if (place, literal) in ALLOWED:
                    used.add((place, literal))
                elif not owner:
                    yield f'{place}: "{literal}" belongs to its entry in the list; ask the list for a fact'
            elif not owner and (match := listed.search(literal)):
                yield f'{place}: "{match[0]}" lists names by hand; make the list from the entries'
    for place, word in sorted(set(ALLOWED) - used):
        yield f'check_names.py allows "{word}" in {place}, which no longer has it'

    header = (root / HEADER).read_text()
    defined = set(re.findall(r'#define (?:KSP|PC)TRIREME\w+ "(\w+)"', header))
    for word in sorted(defined ^ types):
        yield f"{HEADER}: {word} is {'not a type of the lists' if word in defined else 'missing'}"
    for page in PAGES:
        text = (root / page).read_text()
        wanted = names if page == PAGES[0] else types
        for word in sorted(wanted):
            if f"`{word}`" not in text:
                yield f"{page}: `{word}` is missing"
    yield from recipe_faults(root, places)


def recipe_faults(root: pathlib.Path, places: dict):
    """A recipe says "N places" and names each of them in a list of bullets."""
    for recipe, example in RECIPES.items():
        text = (root / recipe).read_text()
        section = re.search(r"(\w+) places[^\n]*\n(.*?)\n## ", text, re.DOTALL)
        if not section:
            yield f"{recipe}: no sentence says how many places there are"
            continue
        stated = re.findall(r"^- `([^`]+)`", section[2], re.MULTILINE)
        if COUNT.get(section[1].lower()) != len(stated):
            yield f"{recipe}: it says {section[1]} places and names {len(stated)}"
        here = {place for word in example for place in places.get(word, set())
                if place.startswith((METHODS, PRECONDITIONERS))}
        here |= {HEADER, *PAGES}
        for place in sorted(here - set(stated)):
            yield f"{recipe}: {place} has {example[0]}, and the recipe does not name it"
        for place in stated:
            path = root / place
            if not path.exists():
                yield f"{recipe}: there is no {place}"


def main(root: pathlib.Path) -> int:
    found = list(faults(root))
    for fault in found:
        print(fault)
    print(f"{len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
