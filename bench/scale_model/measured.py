# SPDX-License-Identifier: BSD-3-Clause
"""Figures that the model of scale rests on: measured ones of docs/performance/ and published ones.

Times are microseconds, per iteration of CG with Jacobi on H200s where nothing else is said.
"""

# --- One GPU: rows and time, the loop as a CUDA graph ---------------------------------------------
# several-gpus.md; resident-engine.md for 4.1 M and 16.8 M rows.
ONE_GPU = {
    "poisson27": [(216_000, 31.5), (8_000_000, 598.4)],
    "poisson3d": [(262_144, 20.7), (373_248, 22.1), (512_000, 25.8), (1_000_000, 41.9), (4_096_000, 148.0),
                  (16_777_216, 574.0)],
}
# The unordered mesh in its best order. It was solved with one size on one GPU; its fixed part is
# that of poisson3d.
MESH2D_ON_ONE = (2_000_000, 142.8)
# poisson27 with an earlier kernel, of which there are figures of four GPUs.
EARLIER_POISSON27 = (8_000_000, 680.0)

# Microseconds per row of a product alone: products-on-gpus.md (poisson27 120 by `sell` with 16-bit
# columns, whose kernel several-gpus.md has), amortisation.md (mesh2d 1000).
PRODUCT_PER_ROW = {"poisson27": 89.2 / 1_728_000, "mesh2d": 34.0 / 1_000_000}

# --- Exchanges within a host ----------------------------------------------------------------------
# A sum of five numbers over so many GPUs: several-gpus.md.
SUMS = {"peer": {2: 2.2, 4: 2.5}, "nccl": {2: 5.6, 4: 8.5}}
# Up to so many rows per GPU the loop has one point of sums in place of two, for one more number per
# row and direction, which takes as long as the sum at that size:
# src/distributed/cuda_operator_system.cpp.
ONE_SUM_UP_TO_ROWS = {"peer": 1_500_000, "nccl": 4_000_000, "mpi": 12_000_000}
ONE_SUM_PER_ROW = 3.0 / 1_500_000

# --- Figures of several GPUs ----------------------------------------------------------------------
# Problem, exchange, GPUs, rows in all, halo of the GPU with most neighbours, time. "fit" figures
# make the model, the others check it. Slabs of a grid with n points per side have halos of n^2
# numbers per neighbour.
SEVERAL = [
    ("fit", "poisson27", "peer", 2, 252**3, 252**2, 618.1),
    ("fit", "poisson3d", "peer", 2, 80**3, 80**2, 26.8),
    ("fit", "poisson27", "nccl", 2, 252**3, 252**2, 645.3),
    ("fit", "poisson27 earlier", "mpi", 2, 200**3, 200**2, 441.0),
    ("check", "poisson27", "peer", 2, 200**3, 200**2, 329.7),
    ("check", "poisson27", "nccl", 2, 200**3, 200**2, 357.6),
    ("check", "poisson27", "peer", 2, 60**3, 60**2, 25.0),
    ("check", "poisson3d", "peer", 2, 48**3, 48**2, 19.8),
    ("check", "poisson3d", "peer", 2, 64**3, 64**2, 24.0),
    ("check", "poisson3d", "peer", 2, 72**3, 72**2, 25.6),
    ("check", "poisson3d", "peer", 2, 100**3, 100**2, 33.8),
    ("check", "mesh2d", "peer", 2, 2_000_000, 1743, 79.5),
    ("check", "mesh2d", "peer", 2, 8_000_000, 3275, 249.5),
    ("check", "poisson27 earlier", "peer", 2, 252**3, 252**2, 698.8),
    ("check", "poisson27 earlier", "nccl", 2, 252**3, 252**2, 729.7),
    ("check", "poisson27 earlier", "peer", 2, 200**3, 200**2, 365.6),
    ("check", "poisson27 earlier", "nccl", 2, 200**3, 200**2, 395.8),
    ("check", "poisson27 earlier", "peer", 4, 318**3, 2 * 318**2, 725.0),
    ("check", "poisson27 earlier", "nccl", 4, 318**3, 2 * 318**2, 761.4),
    ("check", "poisson27 earlier", "peer", 4, 200**3, 2 * 200**2, 201.0),
    ("check", "poisson27 earlier", "nccl", 4, 200**3, 2 * 200**2, 229.9),
    ("check", "poisson27 earlier", "mpi", 4, 200**3, 2 * 200**2, 287.1),
    ("check", "poisson3d", "peer", 4, 100**3, 2 * 100**2, 26.9),
]
# Ghosts of one side of a part of the unordered mesh by PT-Scotch, over the square root of its rows.
MESH2D_GHOSTS_PER_SIDE = 1743 / 1_000_000**0.5

# --- Several hosts: published, not measured -------------------------------------------------------
# Eight H200s with NVLink per host, and a port of 400 Gb/s of InfiniBand for each of them: NVIDIA's
# system description in MLPerf Inference v4.1 (github.com/mlcommons/inference_results_v4.1,
# H200-SXM-141GBx8).
GPUS_PER_HOST = 8
NETWORK_BYTES_PER_US = 400e9 / 8 / 1e6
# The latencies by which NCCL itself chooses its algorithms (github.com/NVIDIA/nccl,
# src/graph/tuning.cc, commit 01afd20): the protocol LL for sums, Simple for messages.
NCCL_BASE = 4.4
NCCL_NVLINK_STEP = 0.52 * 1.8  # with several hosts
NCCL_NETWORK_STEP = 5.0        # of a tree, and of a reduction by the switches (CollNet)
NCCL_MESSAGE = 9.6
# Bytes per microsecond of a device copy, read plus written: products-on-gpus.md.
MEMORY_BYTES_PER_US = 4.2e6
