#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes one sparse matrix with scipy and h5py in every layout that Trireme reads.

usage: write_scipy_files.py FOLDER
"""
import pathlib
import sys

import h5py
import numpy as np
import scipy.sparse as sp

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
n = 3000
rng = np.random.default_rng(1)
# Multiples of 1/8 below 8: float32 and the integer files hold them exactly.
A = sp.random(n, n, 0.004, format="coo", random_state=1, data_rvs=lambda size: rng.integers(1, 100, size))
A = A.tocsr()
A[1500] = 0
A[17] = rng.integers(1, 100, n)
A.eliminate_zeros()
A.sort_indices()
coo = A.tocoo()
coo.row.astype("i8").tofile(folder / "rows.bin")
coo.col.astype("i8").tofile(folder / "columns.bin")
coo.data.astype("f8").tofile(folder / "values.bin")
b = 0.5 * np.arange(n)


def write(name, arrays, attributes, data_type="f8", rhs=b, rhs_attributes=(), names=("indptr", "indices", "data"),
          userblock=0, libver="earliest", **storage):
    with h5py.File(folder / f"{name}.h5", "w", userblock_size=userblock, libver=libver) as file:
        group = file.create_group("A")
        for key, value in attributes.items():
            group.attrs[key] = value
        for key, array in zip(names, arrays):
            group.create_dataset(key, data=array, **storage)
        file.create_dataset("b", data=rhs).attrs.update(dict(rhs_attributes))


def arrays(matrix, pointers="i4", indices="i4", data="f8"):
    return matrix.indptr.astype(pointers), matrix.indices.astype(indices), matrix.data.astype(data)


csr = {"format": "csr", "shape": A.shape}
write("int32", arrays(A), csr)
write("int64", arrays(A, "i8", "i8"), csr)
write("unsigned", arrays(A, "u8", "u4"), csr)
write("big_endian", arrays(A, ">i8", ">i4", ">f8"), csr)
write("float32", arrays(A, data="f4"), csr, rhs=b.astype("f4"))
write("integers", arrays(A, data="i2"), csr)
write("gzip_shuffle", arrays(A, "i8", "i8"), csr, compression="gzip", shuffle=True)
write("large_chunks", arrays(A, "i8"), csr, compression="gzip", chunks=(3001,), fletcher32=True)
write("newest_format", arrays(A), csr, libver="latest")
write("bytes_attribute", arrays(A), {"format": b"csr", "shape": A.shape}, rhs=b.reshape(n, 1))
write("numpy_bytes_attribute", arrays(A), {"format": np.bytes_("csr"), "shape": np.array(A.shape, "i4")})
write("anndata", arrays(A), {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": A.shape})
write("csc", arrays(A.tocsc()), {"format": "csc", "shape": A.shape})
shuffled = A.copy()
for row in range(n):
    part = slice(shuffled.indptr[row], shuffled.indptr[row + 1])
    order = rng.permutation(part.stop - part.start)
    shuffled.indices[part], shuffled.data[part] = shuffled.indices[part][order], shuffled.data[part][order]
write("unsorted", arrays(shuffled), csr)
write("petsc", arrays(A), {"MATLAB_sparse": np.int64(n)}, names=("jc", "ir", "data"))
write("matlab", arrays(A.tocsc(), "u8", "u8"), {"MATLAB_sparse": np.uint64(n), "MATLAB_class": np.bytes_("double")},
      names=("jc", "ir", "data"), userblock=512, rhs=b.reshape(1, n),
      rhs_attributes=[("MATLAB_class", np.bytes_("double"))], compression="gzip", chunks=True)
