# SPDX-License-Identifier: BSD-3-Clause
"""The stub _core.pyi names what the extension has, and nothing else."""

import ast
import inspect
import pathlib

from trireme import _core

TREE = ast.parse(pathlib.Path(_core.__file__).with_name("_core.pyi").read_text())


def is_type_only(node):
    return isinstance(node, ast.ClassDef) and any(
        isinstance(base, ast.Name) and base.id == "TypedDict" for base in node.bases
    )


BODY = [node for node in TREE.body if not is_type_only(node)]


def public(names):
    return {name for name in names if not name.startswith("_")}


def names_in(body):
    found = set()
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return public(found)


def test_names_of_the_module():
    assert names_in(BODY) == public(dir(_core))


def test_names_of_each_class():
    classes = {node.name: node for node in BODY if isinstance(node, ast.ClassDef)}
    assert classes.keys() == {n for n, _ in inspect.getmembers(_core, inspect.isclass)}
    for name, node in classes.items():
        assert names_in(node.body) == public(dir(getattr(_core, name))), name
