// SPDX-License-Identifier: BSD-3-Clause
// AMF-CSR's thresholds. The papers say that T_s and T_l are set before, from the size of the matrix
// and the number of its nonzeros, but give no rule. This is ours.
//
//   T_s = 16 mean row lengths, between 64 and 512: a row block is the work of one warp, which has
//         2 to 16 nonzeros per lane, and folds 16 rows of the mean length where it can.
//   T_l = 8 T_s: a sub-block has one row block for each of the 8 warps of a thread block. A small
//         matrix gets a smaller T_l, down to T_s, so that it has about 512 sub-blocks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trireme::amf_csr {

struct Thresholds {
  std::int64_t t_s = 0;  // a row block of several rows has fewer nonzeros
  std::int64_t t_l = 0;  // a sub-block of several row blocks has fewer nonzeros
};

inline Thresholds choose_thresholds(std::int64_t rows, std::int64_t nnz) {
  constexpr std::int64_t kRows = 16, kMinNonzeros = 64, kMaxNonzeros = 512;
  constexpr std::int64_t kRowBlocks = 8, kWantedSubBlocks = 512;
  const std::int64_t t_s =
      std::clamp(kRows * nnz / std::max<std::int64_t>(rows, 1), kMinNonzeros, kMaxNonzeros);
  return {t_s, std::clamp(nnz / kWantedSubBlocks, t_s, kRowBlocks * t_s)};
}

}  // namespace trireme::amf_csr
