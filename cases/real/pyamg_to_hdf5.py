#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes PyAMG's example systems as HDF5 files that `solve` reads.

    python3 -m venv venv && venv/bin/pip install pyamg h5py
    venv/bin/python cases/real/pyamg_to_hdf5.py cases/real
    solve --config cases/real/airfoil.yaml
    solve --config cases/real/recirc_flow.yaml

write_system() is all that a Python program needs to give a scipy matrix to Trireme.
"""
import pathlib
import sys

import h5py
import numpy as np
import scipy.sparse


def write_system(path, A, b=None, x_exact=None):
    """Writes the group /A with three arrays and two attributes, and the vectors [rows] or [rows, k] beside it."""
    A = scipy.sparse.csr_matrix(A)
    with h5py.File(path, "w") as file:
        group = file.create_group("A")
        group.attrs["format"] = "csr"
        group.attrs["shape"] = A.shape
        group["indptr"], group["indices"], group["data"] = A.indptr, A.indices, A.data
        if b is not None:
            file["b"] = b
        if x_exact is not None:
            file["x_exact"] = x_exact


def main(folder):
    from pyamg.gallery import load_example
    for name in ("airfoil", "recirc_flow"):
        A = scipy.sparse.csr_matrix(load_example(name)["A"])
        x = np.sin(np.arange(A.shape[0]))  # The solution is known, so the report shows the error.
        write_system(folder / f"{name}.h5", A, b=A @ x, x_exact=x)
        print(f"{folder / name}.h5: {A.shape[0]} x {A.shape[1]}, {A.nnz} nonzeros")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
