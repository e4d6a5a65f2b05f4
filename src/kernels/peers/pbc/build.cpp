// SPDX-License-Identifier: BSD-3-Clause
// Copies the rows to their blocks.
#include "kernels/peers/pbc/build.hpp"

#include <algorithm>
#include <utility>

#include "base/stopwatch.hpp"
#include "kernels/peers/pbc/blocks.hpp"

namespace trireme::pbc {

template <class Value>
void reorder_values(std::span<const std::int32_t> row_ptr, std::span<const Value> csr_values,
                    Layout<Value>& layout) {
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t block = 0; block < layout.blocks(); ++block)
    for (std::int32_t place = layout.dev_p[block]; place < layout.dev_p[block + 1];) {
      const std::int32_t row = layout.dev_blockpos[place];
      std::copy(csr_values.begin() + row_ptr[row], csr_values.begin() + row_ptr[row + 1],
                layout.val_data.begin() + place);
      place += row_ptr[row + 1] - row_ptr[row];
    }
}

template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Plan& plan) {
  Stopwatch watch;
  BuiltLayout<Value> built;
  Layout<Value>& layout = built.layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz();
  Blocks blocks = make_blocks(matrix.row_ptr, plan);
  layout.dev_w = std::move(blocks.dev_w);
  layout.dev_p = std::move(blocks.dev_p);
  layout.empty_rows = std::move(blocks.empty_rows);
  layout.long_rows = blocks.long_rows;
  built.steps.push_back({"partition rows", watch.lap()});

  layout.val_data.resize(layout.nnz);
  layout.dev_offset.resize(layout.nnz);
  layout.dev_blockpos.resize(layout.nnz);
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::int64_t k = 0; k < std::ssize(blocks.rows); ++k) {
    const std::int32_t row = blocks.rows[k], place = blocks.places[k];
    const std::int32_t begin = matrix.row_ptr[row], end = matrix.row_ptr[row + 1];
    std::fill_n(layout.dev_blockpos.begin() + place, end - begin, row);
    std::copy(matrix.col_idx.begin() + begin, matrix.col_idx.begin() + end,
              layout.dev_offset.begin() + place);
    std::copy(matrix.values.begin() + begin, matrix.values.begin() + end,
              layout.val_data.begin() + place);
  }
  built.steps.push_back({"copy entries", watch.lap()});
  return built;
}

#define TRIREME_INSTANTIATE(Value)                                                    \
  template BuiltLayout<Value> build(const CsrView<Value>&, const Plan&);              \
  template void reorder_values(std::span<const std::int32_t>, std::span<const Value>, \
                               Layout<Value>&);
TRIREME_INSTANTIATE(double)
TRIREME_INSTANTIATE(float)
#undef TRIREME_INSTANTIATE

}  // namespace trireme::pbc
