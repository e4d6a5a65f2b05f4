#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the system of formats_test.cpp once in every input format, as system.EXTENSION.

usage: write_samples.py FOLDER

To add a format: write its function and its line in WRITERS.
"""
import gzip
import pathlib
import sys

import h5py
import numpy as np

ROW_PTR = np.array([0, 2, 5, 5, 6, 9, 11])
COL_IDX = np.array([0, 1, 0, 1, 5, 3, 0, 2, 4, 1, 5])
VALUES = np.array([4, -1, -1, 4, 0.5, 2.25, 1, -3, 8, 0.125, 16])
B = np.array([1, -2, 3, -4, 5, -6.5])
ROWS = len(ROW_PTR) - 1


def hdf5(path: pathlib.Path) -> None:
    with h5py.File(path, "w") as file:
        group = file.create_group("A")
        group.attrs["format"], group.attrs["shape"] = "csr", (ROWS, ROWS)
        group["indptr"], group["indices"], group["data"] = ROW_PTR, COL_IDX, VALUES
        file["b"] = B


def matrix_market_text() -> str:
    """The entries in no order: the format promises none."""
    rows = np.repeat(np.arange(ROWS), np.diff(ROW_PTR))
    order = np.random.default_rng(1).permutation(len(VALUES))
    entries = "".join(f"{rows[k] + 1} {COL_IDX[k] + 1} {VALUES[k]:g}\n" for k in order)
    return f"%%MatrixMarket matrix coordinate real general\n% a comment\n{ROWS} {ROWS} {len(VALUES)}\n{entries}"


def matrix_market(path: pathlib.Path) -> None:
    path.write_text(matrix_market_text())


def matrix_market_gz(path: pathlib.Path) -> None:
    path.write_bytes(gzip.compress(matrix_market_text().encode()))


def petsc_binary(path: pathlib.Path) -> None:
    """MatView and VecView to a binary viewer: big-endian, class ids 1211216 and 1211214."""
    header = np.array([1211216, ROWS, ROWS, len(VALUES), *np.diff(ROW_PTR), *COL_IDX], ">i4")
    vector = np.array([1211214, ROWS], ">i4")
    path.write_bytes(header.tobytes() + VALUES.astype(">f8").tobytes() + vector.tobytes() + B.astype(">f8").tobytes())


WRITERS = {".h5": hdf5, ".mtx": matrix_market, ".mtx.gz": matrix_market_gz, ".petsc": petsc_binary}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for extension, write in WRITERS.items():
        write(folder / f"system{extension}")
