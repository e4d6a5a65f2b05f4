// SPDX-License-Identifier: BSD-3-Clause
// Groups rows into row blocks, and these into sub-blocks.
#include "kernels/peers/amf_csr/groups.hpp"

#include <algorithm>
#include <bit>

#include "kernels/peers/amf_csr/layout.hpp"

namespace trireme::amf_csr {
namespace {

int choose_row_bits(std::int64_t cols) {
  const std::int64_t last_column = std::max<std::int64_t>(cols - 1, 0);
  const auto column_bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(last_column)));
  return std::min(kMaxRowBits, 32 - column_bits);
}

// Groups consecutive items. ptr[i] is the number of nonzeros before item i. A group of several
// items has fewer than `threshold` nonzeros, and every group has at most max_items items. Returns
// the first item of each group, and the number of items at the end.
Array<std::int32_t> group(std::span<const std::int32_t> ptr, std::int64_t threshold,
                          std::int64_t max_items) {
  const std::int64_t items = std::max<std::int64_t>(std::ssize(ptr) - 1, 0);
  Array<std::int32_t> starts;
  for (std::int64_t begin = 0, end = 0; begin < items; begin = end) {
    starts.push_back(static_cast<std::int32_t>(begin));
    for (end = begin + 1; end < items && end - begin < max_items; ++end)
      if (ptr[end + 1] - ptr[begin] >= threshold) break;
  }
  starts.push_back(static_cast<std::int32_t>(items));
  return starts;
}

}  // namespace

Groups make_groups(std::span<const std::int32_t> csr_row_ptr, std::int64_t cols,
                   const Thresholds& thresholds) {
  Groups groups;
  groups.row_bits = choose_row_bits(cols);
  groups.first_row = group(csr_row_ptr, thresholds.t_s, std::int64_t{1} << groups.row_bits);
  groups.row_blocks = std::ssize(groups.first_row) - 1;
  for (const std::int32_t row : groups.first_row)
    groups.row_ptr.push_back(csr_row_ptr.empty() ? 0 : csr_row_ptr[row]);
  const auto sub_blocks = group(groups.row_ptr, thresholds.t_l, kMaxRowBlocksPerSubBlock);
  groups.sub_blocks = std::ssize(sub_blocks) - 1;
  groups.row_ptr.insert(groups.row_ptr.end(), sub_blocks.begin(), sub_blocks.end());
  return groups;
}

}  // namespace trireme::amf_csr
