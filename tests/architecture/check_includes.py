#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when an #include under src/, apps/ or include/ points against the direction of the house.

usage: check_includes.py SOURCE_FOLDER
"""
import pathlib
import re
import sys

# folder -> the folders that it may include. A sub-folder without a line of its own follows its
# parent; one with a line may include that parent's folders as well as what the line names. A folder
# may include itself; a sub-folder may include its parent only where its line says so.
MAY_INCLUDE = {
    "base": set(),
    "parallel": {"base"},
    "sparse": {"base"},
    "device": {"base"},
    "kernels": {"base", "sparse", "device"},
    "solvers": {"base", "sparse", "device", "kernels"},
    "distributed": {"base", "parallel", "sparse", "device", "kernels", "solvers"},
    "planning": {"base", "parallel", "sparse", "device", "kernels"},
    "config": {"base", "sparse", "kernels"},
    "report": {"base"},
    "io": {"base", "parallel", "sparse", "config"},
    "petsc": {"base", "parallel", "sparse", "device", "kernels", "solvers", "distributed", "planning", "config"},
    "app": {"base", "parallel", "sparse", "device", "kernels", "solvers", "distributed", "planning", "config",
            "report", "io", "petsc"},
    "apps": {"base", "parallel", "sparse", "device", "kernels", "planning", "config", "report", "io", "app",
             "petsc"},
}
# What sub-folders may not include, though their folder may.
MAY_NOT_INCLUDE = {
    "solvers/methods": ("device/", "kernels/", "solvers/executors/"),
    "solvers/preconditioners": ("solvers/executors/",),
}
# library header -> the only places that may include it
LIBRARY_HOMES = {
    r"petsc": ("petsc/", "app/", "include/"),
    r"mpi\.h": ("parallel/", "distributed/", "petsc/", "app/", "io/", "planning/", "apps/"),
    r"hdf5": ("io/",),
    r"yaml-cpp": ("config/",),
    r"nlohmann": ("report/", "config/", "apps/"),
    r"CLI/": ("apps/",),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".h", ".hpp", ".cpp", ".cu", ".cuh"}


def faults_of(place: str, name: str, folder: str, quoted: bool, target: str):
    """What is wrong with one #include of the file `name` (relative to src/, or to the root)."""
    head = target.split("/")[0]
    if quoted and head in MAY_INCLUDE and head != folder and head not in MAY_INCLUDE.get(folder, MAY_INCLUDE):
        yield f"{place}: {folder}/ may not include {target}"
    for part, forbidden in MAY_NOT_INCLUDE.items():
        if quoted and name.startswith(part + "/") and target.startswith(forbidden):
            yield f"{place}: {part}/ may not include {target}"
    kernel = re.match(r"kernels/(\w+)/", name)
    other = re.match(r"kernels/(\w+)/", target)
    if quoted and kernel and other and kernel[1] != other[1]:
        yield f"{place}: the kernel {kernel[1]} may not include {target} of another kernel"
    for library, homes in LIBRARY_HOMES.items():
        if not quoted and re.match(library, target) and not name.startswith(homes):
            yield f"{place}: <{target}> belongs in {', '.join(homes)} only"


def main(root: pathlib.Path) -> int:
    faults = []
    files = sorted(p for top in ("src", "apps", "include") for p in (root / top).rglob("*") if p.suffix in SOURCES)
    for path in files:
        name = path.relative_to(root).as_posix().removeprefix("src/")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                faults.extend(faults_of(f"{path.relative_to(root)}:{number}", name, name.split("/")[0],
                                        match[1] == '"', match[2]))
    unknown = {p.relative_to(root / "src").parts[0] for p in files if p.is_relative_to(root / "src")} - set(MAY_INCLUDE)
    faults.extend(f"src/{folder}/ has no line in MAY_INCLUDE" for folder in sorted(unknown))
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {len(faults)} faults")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
