#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when an #include or a linked library points against the direction of the folders.

usage: check_includes.py SOURCE_FOLDER

SOURCE_FOLDER is the root of the repository. The script reads the sources under src/, apps/ and
include/ and the CMakeLists.txt of each folder of src/. It prints one line per fault and exits with 1
when there is a fault or when there is no source to check.
"""
import pathlib
import re
import sys

# Each folder maps to the folders that its sources may include and its library may link. A folder
# may always include itself, and a sub-folder follows its parent.
MAY_INCLUDE = {
    "base": set(),
    "parallel": {"base"},
    "sparse": {"base"},
    "device": {"base"},
    "kernels": {"base", "sparse", "device"},
    "ordering": {"base", "sparse", "device", "kernels"},
    "solvers": {"base", "sparse", "device", "kernels"},
    "distributed": {"base", "parallel", "sparse", "device", "kernels", "ordering", "solvers"},
    "multigrid": {"base", "parallel", "sparse", "device", "kernels", "solvers", "distributed"},
    "partitioning": {"base", "parallel", "sparse", "solvers", "distributed", "multigrid"},
    "planning": {"base", "parallel", "sparse", "device", "kernels", "ordering", "solvers", "distributed"},
    "inverses": {"base", "parallel", "sparse", "device", "kernels", "solvers", "distributed", "multigrid", "planning"},
    "factors": {"base", "parallel", "sparse", "device", "kernels", "ordering", "solvers", "distributed", "multigrid"},
    "api": {"base", "parallel", "sparse", "device", "kernels", "solvers", "distributed", "multigrid", "planning",
            "inverses", "factors"},
    "config": {"base", "sparse", "kernels", "solvers"},
    "report": {"base", "planning"},
    "cache": {"base", "parallel", "report"},
    "study": {"base", "sparse", "kernels", "config", "report"},
    "io": {"base", "parallel", "sparse", "config"},
    "petsc": {"base", "parallel", "sparse", "device", "kernels", "ordering", "solvers", "distributed",
              "multigrid", "partitioning", "planning", "inverses", "factors", "config"},
    "app": {"base", "parallel", "sparse", "device", "kernels", "ordering", "solvers", "distributed",
            "multigrid", "planning", "inverses", "factors", "config", "report", "cache", "io", "petsc"},
    "apps": {"base", "parallel", "sparse", "device", "kernels", "planning", "config", "report", "cache", "study",
             "io", "app", "petsc"},
    "include": set(),  # An installed header includes no header that is not installed.
}
# A sub-folder may not include these beginnings of paths, even where its folder may.
MAY_NOT_INCLUDE = {
    "solvers/methods": ("device/", "kernels/", "solvers/executors/"),
    "solvers/preconditioners": ("solvers/executors/",),
}
# Each library header maps to the only places that may include it.
LIBRARY_HOMES = {
    r"petsc\w*\.h$|petsc/private/": ("petsc/", "app/", "include/"),
    r"mpi(-ext)?\.h$": ("api/", "parallel/", "distributed/", "multigrid/", "partitioning/", "petsc/", "app/",
                         "cache/", "io/", "planning/", "apps/"),
    r"nccl\.h$": ("distributed/",),
    r"(cub|thrust)/": ("device/",),
    r"(cuda|cusparse)": ("device/", "kernels/", "ordering/", "solvers/", "multigrid/", "petsc/"),
    r"hwy/": ("kernels/", "io/"),
    r"(hdf5|zlib|fast_float)": ("io/",),
    r"xxhash": ("io/", "cache/", "study/"),
    r"yaml-cpp": ("config/", "study/"),
    r"nlohmann": ("report/", "cache/", "config/", "study/", "apps/"),
    r"CLI/": ("apps/",),
}
KERNEL = r"kernels/(?!peers/[^/]*$)(?:peers/)?(\w+)/"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
LIBRARY = re.compile(r"\btrireme_library\((\w+)([^()]*)\)")
SOURCES = {".h", ".hpp", ".cpp", ".cu", ".cuh"}


def include_faults(place: str, name: str, quoted: bool, target: str):
    """Yields what is wrong with one #include of the file `name`, a path relative to src/ or to the root."""
    folder, head = name.split("/")[0], target.split("/")[0]
    library = next((homes for pattern, homes in LIBRARY_HOMES.items() if re.match(pattern, target)), None)
    if library:
        if not name.startswith(library):
            yield f"{place}: {target} belongs in {', '.join(library)} only"
        return
    if not quoted:
        return
    if head in MAY_INCLUDE and head != folder and head not in MAY_INCLUDE.get(folder, MAY_INCLUDE):
        yield f"{place}: {folder}/ may not include {target}"
    for part, forbidden in MAY_NOT_INCLUDE.items():
        if name.startswith(part + "/") and target.startswith(forbidden):
            yield f"{place}: {part}/ may not include {target}"
    kernel = re.match(KERNEL, name)
    other = re.match(KERNEL, target)
    if kernel and other and kernel[1] != other[1]:
        yield f"{place}: the kernel {kernel[1]} may not include {target} of another kernel"


def library_faults(folder: pathlib.Path):
    """Yields what is wrong with the CMake library of one folder of src/."""
    name, lists = folder.name, folder / "CMakeLists.txt"
    libraries = dict(LIBRARY.findall(lists.read_text())) if lists.exists() else {}
    if name not in libraries:
        yield f"src/{name}/: its CMakeLists.txt has no trireme_library({name} ...)"
        return
    for linked in sorted(set(re.findall(r"\btrireme_(\w+)", libraries[name]))):
        if linked in MAY_INCLUDE and linked not in MAY_INCLUDE.get(name, MAY_INCLUDE):
            yield f"src/{name}/CMakeLists.txt: {name} may not link trireme_{linked}"


def faults(root: pathlib.Path, files: list):
    for path in files:
        name = path.relative_to(root).as_posix().removeprefix("src/")
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield from include_faults(f"{path.relative_to(root)}:{number}", name, match[1] == '"', match[2])
    for folder in sorted(p for p in (root / "src").glob("*") if p.is_dir()):
        if folder.name not in MAY_INCLUDE:
            yield f"src/{folder.name}/ has no line in MAY_INCLUDE"
        yield from library_faults(folder)


def main(root: pathlib.Path) -> int:
    files = sorted(p for top in ("src", "apps", "include") for p in (root / top).rglob("*") if p.suffix in SOURCES)
    found = list(faults(root, files))
    for fault in found:
        print(fault)
    print(f"{len(files)} files, {len(found)} faults")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
