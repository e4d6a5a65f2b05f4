# SPDX-License-Identifier: BSD-3-Clause
"""That the examples run as they are: each checks its own claims."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "python" / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
NEEDS = {"against_pyamg": "pyamg", "finite_elements": "skfem"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_writes_no_file(path, tmp_path, monkeypatch):
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_opens_as_a_notebook(path):
    second = path.read_text(encoding="utf-8").splitlines()[1]
    assert second == "# %% [markdown]"


def test_readme_lists_the_examples():
    rows = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    listed = [row.split("]")[0].removeprefix("| [") for row in rows if row.startswith("| [")]
    assert sorted(listed) == [path.name for path in EXAMPLES]
