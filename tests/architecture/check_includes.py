#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when an #include under src/ or apps/ points against the direction of the house.

usage: check_includes.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

# folder -> the folders that it may include
MAY_INCLUDE = {
    "base": set(),
    "parallel": {"base"},
    "sparse": {"base"},
    "device": {"base"},
    "kernels": {"base", "sparse", "device"},
    "config": {"base", "sparse", "kernels"},
    "report": {"base"},
    "io": {"base", "parallel", "sparse", "config"},
    "planning": {"base", "parallel", "sparse", "device", "kernels", "config"},
    "operators": {"base", "parallel", "sparse", "device", "kernels", "planning"},
    "krylov": {"base", "parallel", "sparse", "device", "kernels", "config", "report", "io", "planning",
               "operators"},
}
# library header -> the only places that may include it
LIBRARY_HOMES = {
    r"petsc": ("operators/", "krylov/"),
    r"mpi\.h": ("parallel/", "operators/", "krylov/", "io/", "planning/", "apps/"),
    r"hdf5": ("io/",),
    r"yaml-cpp": ("config/",),
    r"nlohmann": ("report/", "config/", "apps/"),
    r"CLI/": ("apps/",),
}


def main(root: pathlib.Path) -> int:
    include = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
    faults = []
    files = [p for top in ("src", "apps") for p in (root / top).rglob("*")
             if p.suffix in {".hpp", ".cpp", ".cu", ".cuh"}]
    for path in sorted(files):
        name = path.relative_to(root).as_posix().removeprefix("src/")
        folder = name.split("/")[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = include.match(line)
            if not match:
                continue
            target = match[2]
            place = f"{path.relative_to(root)}:{number}"
            head = target.split("/")[0]
            if match[1] == '"' and folder in MAY_INCLUDE and head in MAY_INCLUDE and head != folder:
                if head not in MAY_INCLUDE[folder]:
                    faults.append(f"{place}: {folder}/ may not include {target}")
            for library, homes in LIBRARY_HOMES.items():
                if match[1] == "<" and re.match(library, target) and not name.startswith(homes):
                    faults.append(f"{place}: <{target}> belongs in {', '.join(homes)} only")
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {len(faults)} faults")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
