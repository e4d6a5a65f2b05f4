#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks one page of the documentation: its links, the paths that it names, and its commands.

  check_page.py ROOT BUILD PAGE

The blocks of a page run in order in one temporary folder that has cases/ and configs/, with the built
programs on PATH. A block in another language whose first line is a comment with a file name is saved
under that name. Fast form: mpirun starts at most 3 ranks, generated problems are small (MAX_SIDE,
MAX_ROWS), and kernel_bench times for 0.01 s. See page.py for the marks of blocks that do not run.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from commands import Known
from page import KEYS, Page

PROGRAMS = ("trireme", "solve", "problem", "kernel_bench")
MAX_SIDE = 24  # grid points per side of a generated problem
MAX_ROWS = 20000  # rows of one whose size is given as rows
SIZE = re.compile(r"((?:\b(web|circuit|short|random) )?--n |\bn: )(\d+)")
SECONDS = 50  # for one block
# Folders of the repository: inline code that begins with one of them is a path.
PATHS = re.compile(r"(?:\.ci|apps|bench|cases|cmake|configs|docs|include|scripts|src|tests)/[\w./*<>{},+-]*$")
PLACEHOLDER = re.compile(r"NAME|FOLDER|<|\*|\{")


def faults_of_links(page):
    for link in page.links():
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        path = (page.path.parent / target).resolve() if target else page.path
        if not path.exists():
            yield f"link to '{link}', which does not exist"
        elif anchor and anchor not in Page(path).anchors():
            yield f"link to '{link}': the page has no such heading"


def faults_of_paths(page, root):
    words = page.spans()
    for span in words:
        span = span.split(":")[0]
        if not PATHS.match(span):
            continue
        if PLACEHOLDER.search(span):  # src/kernels/NAME: what stands before the placeholder must be there
            span = str(pathlib.PurePath(span[:PLACEHOLDER.search(span).start()] + "x").parent)
        if not (root / span).exists():
            yield f"'{span}' does not exist"


def faults_of_commands(page, known):
    for block in page.blocks:
        if block.language == "sh":
            for fault in known.faults(block.setup + "\n" + block.text):
                yield f"line {block.line}: {fault}"
        if block.same_as:
            there = {line.strip() for line in (known.root / block.same_as).read_text().splitlines()}
            for line in block.text.splitlines():
                if line.strip() and line.strip() not in there:
                    yield f"line {block.line}: '{line}' does not stand in {block.same_as}"
    for span in page.spans():
        if span.split()[0] in known.programs or re.match(r"(scripts|bench)/[\w-]+ ", span):
            for fault in known.faults(span.replace("<", "").replace(">", "")):
                yield f"`{span}`: {fault}"


def properties(schema):
    """The names of all properties of a JSON schema, at every depth."""
    if isinstance(schema, list):
        return {name for item in schema for name in properties(item)}
    if not isinstance(schema, dict):
        return set()
    names = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return names | {name for value in schema.values() for name in properties(value)}


def faults_of_fields(page, root):
    for schema in KEYS.findall(page.text):
        for name in sorted(properties(json.loads((root / schema).read_text())) - set(page.spans())):
            yield f"`{name}` of {schema} is not explained"


def smaller(text):
    """The text with smaller problems."""
    def limited(match):
        return match[1] + str(min(int(match[3]), MAX_ROWS if match[2] else MAX_SIDE))
    return SIZE.sub(limited, text)


def write_program(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def include_flags(build):
    """The include folders of the code, for blocks of C++ that are checked by the compiler."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "trireme_app_sources.dir" in entry["command"]:
            return " ".join(re.findall(r"-(?:I|isystem ?)\S+", entry["command"]))
    return ""


def prepare(folder, root, build):
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for program in PROGRAMS:
        path = build / "apps" / program / program
        seconds = " --seconds 0.01" if program == "kernel_bench" else ""
        write_program(bin_folder / program, f'exec {path} "$@"{seconds}\n')
    write_program(bin_folder / "python3", f'exec {sys.executable} "$@"\n')
    mpirun = shutil.which("mpirun")
    flags = os.environ.get("TRIREME_MPIRUN_FLAGS", "")
    write_program(bin_folder / "mpirun", f"""n=1
while [ "${{1#-}}" != "$1" ]; do
  case $1 in -n|-np) n=$2; shift 2 ;; --bind-to) shift 2 ;; *) shift ;; esac
done
[ "$n" -le 3 ] || n=3
exec {mpirun} -n $n {flags} "$@"
""")
    work = folder / "work"
    work.mkdir()
    for name in ("cases", "configs"):
        shutil.copytree(root / name, work / name, ignore=shutil.ignore_patterns("*.h5"))
        for case in (work / name).rglob("*.yaml"):
            case.write_text(smaller(case.read_text()))
    for name in ("scripts", "src", "include"):
        if (root / name).exists():
            (work / name).symlink_to(root / name)
    (work / "build").mkdir()
    (work / "build" / "release").symlink_to(build)
    return work, dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", HOME=str(folder),
                      OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", INCLUDES=include_flags(build))


def run(text, work, environment):
    """What failed, or nothing."""
    shell = subprocess.Popen(["bash", "-euo", "pipefail", "-c", smaller(text)], cwd=work, env=environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", start_new_session=True)
    try:
        output, _ = shell.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.communicate()
        return f"took more than {SECONDS} s"
    return f"exit code {shell.returncode}\n{output[-3000:]}" if shell.returncode else ""


def faults_of_running(page, root, build):
    """Yields what fails; prints how many blocks ran, and why the others did not."""
    ran, not_run = 0, []
    with tempfile.TemporaryDirectory(prefix="trireme-docs-") as folder:
        work, environment = prepare(pathlib.Path(folder), root, build)
        for block in page.blocks:
            if name := block.file_name():
                (work / name).parent.mkdir(parents=True, exist_ok=True)
                (work / name).write_text(smaller(block.text))
            if block.language != "sh":
                continue
            if block.not_run:
                not_run.append(f"line {block.line}: {block.not_run}")
                continue
            ran += 1
            if fault := run(block.setup + "\n" + block.text, work, environment):
                yield f"line {block.line}: {fault}"
        for block in page.blocks:
            if block.check and (fault := run(block.check, work, environment)):
                yield f"line {block.line}: {fault}"
    print(f"{page.path.name}: {ran} blocks ran, {len(not_run)} did not")
    for reason in not_run:
        print(f"  not run: {reason}")


def faults_of(page, root, build):
    known = Known(root, {name: str(build / "apps" / name / name) for name in PROGRAMS})
    return [*faults_of_links(page), *faults_of_paths(page, root), *faults_of_fields(page, root),
            *faults_of_commands(page, known), *faults_of_running(page, root, build)]


def main():
    root, build, path = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    faults = faults_of(Page(path), root, build)
    for fault in faults:
        print(f"{path.relative_to(root)}: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
