#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a file of the packages names another version than CMakeLists.txt.

usage: check_versions.py SOURCE_FOLDER

Prints one line per fault, and exits with 1 when there is one.
"""
import pathlib
import re
import sys

# Each file, and an expression whose group is the version in it.
PLACES = {
    "include/trireme/version.h": r'^#define TRIREME_VERSION "([^"]+)"',
    "CITATION.cff": r"^version: (\S+)",
    "CHANGELOG.md": r"^## (\d\S*)",
    "packaging/debian/changelog": r"^trireme \(([^-)]+)-",
    "packaging/spack/package.py": r'^    version\("([^"]+)"',
    "packaging/conda/recipe.yaml": r'^  version: "([^"]+)"',
    "packaging/easybuild/Trireme-*.eb": r"^version = '([^']+)'",
}


def faults(root):
    own = re.search(r"^project\(Trireme VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    for pattern, expression in PLACES.items():
        paths = sorted(root.glob(pattern))
        if not paths:
            yield f"{pattern} does not exist"
        for path in paths:
            found = re.search(expression, path.read_text(), re.MULTILINE)
            if not found or found[1] != own:
                yield f"{path.relative_to(root)}: version {found[1] if found else 'not found'}, not {own}"
            if pattern.endswith(".eb") and f"-{own}-" not in path.name:
                yield f"{path.relative_to(root)}: the name lacks {own}"
    for path in sorted(root.glob("packaging/spack/*.py")):
        compile(path.read_text(), str(path), "exec")


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "one version everywhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
