#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every case and preset of the project is valid by configs/case.schema.json, and bad ones are not.

usage: validate_cases.py SOURCE_FOLDER
"""
import json
import pathlib
import re
import sys

import jsonschema
import yaml


class Yaml12(yaml.SafeLoader):
    """YAML 1.2 numbers, as the program reads them: 1e-8 is one."""


Yaml12.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"), list("-+.0123456789"))

BAD = {
    "an unknown key": "problem: {generate: poisson3d, n: 4}\nsolvr: {}\n",
    "a quoted number": "problem: {generate: poisson3d, n: 4}\nsolver: {rtol: '1e-8'}\n",
    "rtol 1": "problem: {generate: poisson3d, n: 4}\nsolver: {rtol: 1}\n",
    "file and generate": "problem: {file: a.h5, generate: poisson3d, n: 4}\n",
    "no source": "problem: {rhs: ones}\n",
    "no n": "problem: {generate: poisson3d}\n",
    "an owned option": "problem: {file: a.h5}\npetsc: {ksp_type: cg}\n",
    "a kernel twice": "problem: {file: a.h5}\nkernel: [csr, csr]\n",
}


def main(root: pathlib.Path) -> int:
    schema = json.loads((root / "configs/case.schema.json").read_text())
    whole = jsonschema.Draft202012Validator(schema)
    preset = jsonschema.Draft202012Validator({k: v for k, v in schema.items() if k != "required"})
    faults = 0

    cases = sorted((root / "cases").rglob("*.yaml"))
    presets = sorted((root / "configs").rglob("*.yaml"))
    for path in cases + presets:
        validator = whole if path in cases else preset
        for error in validator.iter_errors(yaml.load(path.read_text(), Yaml12)):
            print(f"{path.relative_to(root)}: {error.json_path}: {error.message}")
            faults += 1
    for what, text in BAD.items():
        if whole.is_valid(yaml.load(text, Yaml12)):
            print(f"the schema lets {what} pass")
            faults += 1
    print(f"{len(cases)} cases, {len(presets)} presets, {len(BAD)} bad ones, {faults} faults")
    return 1 if faults or not cases or not presets else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
