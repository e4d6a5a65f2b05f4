// SPDX-License-Identifier: BSD-3-Clause
// The kernels that are there to be compared with. A build with TRIREME_PEERS=OFF leaves this folder
// out.
#pragma once

#include <array>
#include <string_view>

#include "kernels/on_cuda.hpp"
#include "kernels/peers/amf_csr/amf_csr.hpp"
#include "kernels/peers/coo/coo.hpp"
#include "kernels/peers/csr5/csr5.hpp"
#include "kernels/peers/ell/ell.hpp"
#include "kernels/peers/hyb/hyb.hpp"
#include "kernels/peers/jds/jds.hpp"
#include "kernels/peers/lsrb_csr/lsrb_csr.hpp"
#include "kernels/peers/pbc/pbc.hpp"
#include "kernels/peers/spmm/spmm.hpp"
#include "kernels/peers/tilespmv/tilespmv.hpp"
#include "kernels/registry.hpp"

namespace trireme {

// One of the products of several vectors of the article.
template <SpmmSplit split>
constexpr KernelEntry spmm_entry(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .paper = "SPMM on GPU, 2023",
          .peer = true,
          .host_double = build_spmm_host<split, double>,
          .host_float = build_spmm_host<split, float>,
          .cuda_double = on_cuda<double>(build_spmm_cuda<split>),
          .cuda_float = on_cuda<float>(build_spmm_cuda<split>)};
}

inline constexpr std::array kPeerKernels = {
    KernelEntry{.name = "csr5",
                .summary = "tiles of equal nonzeros, stored transposed, segmented sums",
                .paper = "Liu and Vinter 2015 (ICS), CSR5",
                .peer = true,
                .host_double = build_csr5_host<double>,
                .host_float = build_csr5_host<float>,
                .cuda_double = on_cuda<double>(build_csr5_cuda),
                .cuda_float = on_cuda<float>(build_csr5_cuda),
                .cuda_mixed = on_cuda<double>(build_csr5_mixed_cuda)},
    KernelEntry{.name = "tilespmv",
                .summary = "tiles of 16 x 16 places, each in one of seven formats",
                .paper = "Niu et al. 2021 (IPDPS), TileSpMV",
                .peer = true,
                .host_double = build_tilespmv_host<double>,
                .host_float = build_tilespmv_host<float>,
                .cuda_double = on_cuda<double>(build_tilespmv_cuda),
                .cuda_float = on_cuda<float>(build_tilespmv_cuda),
                .cuda_mixed = on_cuda<double>(build_tilespmv_mixed_cuda)},
    KernelEntry{.name = "pbc",
                .summary = "rows dealt to COO blocks whose nonzeros deviate least",
                .paper = "Cui et al. 2022, PBC",
                .peer = true,
                .host_double = build_pbc_host<double>,
                .host_float = build_pbc_host<float>,
                .cuda_double = on_cuda<double>(build_pbc_cuda),
                .cuda_float = on_cuda<float>(build_pbc_cuda)},
    KernelEntry{.name = "amf-csr",
                .summary = "up to 16 rows folded into a row block, sorted by column",
                .paper = "Gao et al. 2021 (ICPADS), AMF-CSR",
                .peer = true,
                .host_double = build_amf_csr_host<double>,
                .host_float = build_amf_csr_host<float>,
                .cuda_double = on_cuda<double>(build_amf_csr_cuda),
                .cuda_float = on_cuda<float>(build_amf_csr_cuda)},
    KernelEntry{.name = "lsrb-csr",
                .summary = "CSR in segments of equal length, local segmented reduction",
                .paper = "Liu et al. 2015 (ICPADS), LSRB-CSR",
                .peer = true,
                .host_double = build_lsrb_csr_host<double>,
                .host_float = build_lsrb_csr_host<float>,
                .cuda_double = on_cuda<double>(build_lsrb_csr_cuda),
                .cuda_float = on_cuda<float>(build_lsrb_csr_cuda)},
    spmm_entry<SpmmSplit::row_thread>("spmm-row-thread",
                                      "products of vectors: one thread per row and vector"),
    spmm_entry<SpmmSplit::row_warp>("spmm-row-warp",
                                    "products of vectors: one warp per row, one lane per vector"),
    spmm_entry<SpmmSplit::row_reduce>(
        "spmm-row-reduce", "products of vectors: one warp per row, lanes share its nonzeros"),
    spmm_entry<SpmmSplit::nnz_thread>("spmm-nnz-thread",
                                      "products of vectors: one thread per 32 nonzeros and vector"),
    spmm_entry<SpmmSplit::nnz_tile>(
        "spmm-nnz-tile", "products of vectors: one thread per 32 nonzeros and 32 vectors"),
    spmm_entry<SpmmSplit::nnz_warp>(
        "spmm-nnz-warp", "products of vectors: one lane per nonzero, rows summed in trees"),
    spmm_entry<SpmmSplit::nnz_cache>(
        "spmm-nnz-cache", "products of vectors: one warp per 32 nonzeros, one lane per vector"),
    spmm_entry<SpmmSplit::by_rule>(
        "spmm-rule", "products of vectors: one of the seven, by their number and the rows"),
    KernelEntry{.name = "coo",
                .summary = "row, column and value of each nonzero; a segmented sum by rows",
                .paper = "Bell and Garland, SC 2009",
                .peer = true,
                .host_double = build_coo_host<double>,
                .host_float = build_coo_host<float>,
                .cuda_double = on_cuda<double>(build_coo_cuda),
                .cuda_float = on_cuda<float>(build_coo_cuda)},
    KernelEntry{.name = "ell",
                .summary = "rows padded to the longest one, up to 10 times the memory of CSR",
                .paper = "Kincaid et al. 1982, ITPACK 2C",
                .peer = true,
                .host_double = build_ell_host<double>,
                .host_float = build_ell_host<float>,
                .cuda_double = on_cuda<double>(build_ell_cuda),
                .cuda_float = on_cuda<float>(build_ell_cuda)},
    KernelEntry{.name = "hyb",
                .summary = "ELL for the entries that a third of the rows have, COO for the others",
                .paper = "Bell and Garland, SC 2009",
                .peer = true,
                .host_double = build_hyb_host<double>,
                .host_float = build_hyb_host<float>,
                .cuda_double = on_cuda<double>(build_hyb_cuda),
                .cuda_float = on_cuda<float>(build_hyb_cuda)},
    KernelEntry{.name = "jds",
                .summary = "rows sorted by length, stored column by column without padding",
                .paper = "Saad 1989, jagged diagonals",
                .peer = true,
                .host_double = build_jds_host<double>,
                .host_float = build_jds_host<float>,
                .cuda_double = on_cuda<double>(build_jds_cuda),
                .cuda_float = on_cuda<float>(build_jds_cuda)},
};

}  // namespace trireme
