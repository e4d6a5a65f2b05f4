// SPDX-License-Identifier: BSD-3-Clause
// Folds the rows of each row block.
#include "kernels/peers/amf_csr/build.hpp"

#include <array>
#include <utility>

#include "base/stopwatch.hpp"
#include "kernels/peers/amf_csr/groups.hpp"

namespace trireme::amf_csr {
namespace {

constexpr int kMaxRows = 1 << kMaxRowBits;  // per row block

// Merges the rows of one row block by column; the earlier row comes first where columns are equal.
template <class Value>
void fold(const CsrView<Value>& matrix, std::int64_t row_block, Layout<Value>& layout) {
  const std::int32_t first_row = layout.first_row[row_block];
  const int rows = layout.first_row[row_block + 1] - first_row;
  std::array<std::int32_t, kMaxRows> next{};
  for (int r = 0; r < rows; ++r) next[r] = matrix.row_ptr[first_row + r];
  for (std::int32_t place = layout.row_ptr[row_block]; place < layout.row_ptr[row_block + 1];
       ++place) {
    int from = -1;
    for (int r = 0; r < rows; ++r)
      if (next[r] < matrix.row_ptr[first_row + r + 1] &&
          (from < 0 || matrix.col_idx[next[r]] < matrix.col_idx[next[from]]))
        from = r;
    const std::int32_t entry = next[from]++;
    layout.col_index[place] = static_cast<std::uint32_t>(matrix.col_idx[entry]) << layout.row_bits |
                              static_cast<std::uint32_t>(from);
    layout.val[place] = matrix.values[entry];
  }
}

}  // namespace

template <class Value>
void reorder_values(std::span<const std::int32_t> row_ptr, std::span<const Value> csr_values,
                    Layout<Value>& layout) {
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t row_block = 0; row_block < layout.row_blocks; ++row_block) {
    std::array<std::int32_t, kMaxRows> next{};
    for (std::int32_t row = layout.first_row[row_block]; row < layout.first_row[row_block + 1];
         ++row)
      next[row - layout.first_row[row_block]] = row_ptr[row];
    for (std::int32_t place = layout.row_ptr[row_block]; place < layout.row_ptr[row_block + 1];
         ++place)
      layout.val[place] = csr_values[next[layout.row_of(layout.col_index[place])]++];
  }
}

template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Thresholds& thresholds) {
  Stopwatch watch;
  BuiltLayout<Value> built;
  Layout<Value>& layout = built.layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz();
  Groups groups = make_groups(matrix.row_ptr, matrix.cols, thresholds);
  layout.row_blocks = groups.row_blocks;
  layout.sub_blocks = groups.sub_blocks;
  layout.row_bits = groups.row_bits;
  layout.row_ptr = std::move(groups.row_ptr);
  layout.first_row = std::move(groups.first_row);
  built.steps.push_back({"group rows", watch.lap()});

  layout.val.resize(layout.nnz);
  layout.col_index.resize(layout.nnz);
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t row_block = 0; row_block < layout.row_blocks; ++row_block)
    fold(matrix, row_block, layout);
  built.steps.push_back({"fold rows", watch.lap()});
  return built;
}

#define TRIREME_INSTANTIATE(Value)                                                    \
  template BuiltLayout<Value> build(const CsrView<Value>&, const Thresholds&);        \
  template void reorder_values(std::span<const std::int32_t>, std::span<const Value>, \
                               Layout<Value>&);
TRIREME_INSTANTIATE(double)
TRIREME_INSTANTIATE(float)
#undef TRIREME_INSTANTIATE

}  // namespace trireme::amf_csr
