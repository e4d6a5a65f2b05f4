#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""report.json is valid by configs/report.schema.json, and no key of it can go missing unnoticed.

usage: validate_report.py SCHEMA (REPORT | PROGRAM that prints one)
"""
import copy
import json
import pathlib
import subprocess
import sys

import jsonschema


def objects(value, path=()):
    """Yields the path of each object, of the first one where a list has several."""
    if isinstance(value, dict):
        yield path
        for key, part in value.items():
            yield from objects(part, (*path, key))
    elif isinstance(value, list) and value:
        yield from objects(value[0], (*path, 0))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def main(schema_path: str, source: str) -> int:
    validator = jsonschema.Draft202012Validator(json.loads(pathlib.Path(schema_path).read_text()))
    text = (pathlib.Path(source).read_text() if source.endswith(".json")
            else subprocess.run([source], check=True, capture_output=True, text=True).stdout)
    report = json.loads(text)
    faults = [f"{e.json_path}: {e.message}" for e in validator.iter_errors(report)]
    for path in objects(report):
        if path[-1:] == ("pays_after",):
            continue  # its keys are names of kernels
        for key in at(report, path):
            broken = copy.deepcopy(report)
            del at(broken, path)[key]
            if validator.is_valid(broken):
                faults.append(f"the schema does not miss {'/'.join(map(str, [*path, key]))}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
