// SPDX-License-Identifier: BSD-3-Clause
// Finds the rows of each segment.
#include "kernels/peers/lsrb_csr/build.hpp"

#include <algorithm>

#include "base/stopwatch.hpp"
#include "kernels/peers/empty_rows.hpp"

namespace trireme::lsrb_csr {
namespace {

// Lists the rows that have nonzeros in row_of. Returns the first nonzero of each.
template <class Value>
Array<std::int32_t> leave_out_empty_rows(std::span<const std::int32_t> row_ptr,
                                         Layout<Value>& layout) {
  Array<std::int32_t> starts;
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    if (row_ptr[row] == row_ptr[row + 1]) continue;
    layout.row_of.push_back(static_cast<std::int32_t>(row));
    starts.push_back(row_ptr[row]);
  }
  return starts;
}

// starts[r] is the first nonzero of row r, and no row is empty.
template <class Value>
void describe_segments(std::span<const std::int32_t> starts, Layout<Value>& layout) {
#pragma omp parallel for schedule(static)
  for (std::int64_t segment = 0; segment < layout.segments; ++segment) {
    const std::int64_t begin = layout.begin_of(segment), end = layout.begin_of(segment + 1);
    auto row = std::upper_bound(starts.begin(), starts.end(), begin) - 1;
    layout.first_row[segment] = static_cast<std::int32_t>(row - starts.begin());
    unsigned bits = 0;
    for (; row != starts.end() && *row < end; ++row)
      if (*row >= begin) bits |= 1U << (*row - begin);
    layout.row_starts[segment] = static_cast<std::uint16_t>(bits);
  }
}

}  // namespace

template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Cut& cut) {
  Stopwatch watch;
  BuiltLayout<Value> built;
  Layout<Value>& layout = built.layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz();
  layout.cut = cut;
  layout.values = matrix.values;
  layout.col_idx = matrix.col_idx;
  layout.segments = (layout.nnz + cut.segment_nonzeros - 1) / cut.segment_nonzeros;
  layout.row_blocks = (layout.segments + cut.block_segments - 1) / cut.block_segments;
  layout.row_starts.resize(layout.segments);
  layout.first_row.resize(layout.segments);

  layout.empty_rows = find_empty_rows(matrix.row_ptr);
  if (layout.empty_rows.empty())
    describe_segments(matrix.row_ptr.first(layout.rows), layout);
  else
    describe_segments<Value>(leave_out_empty_rows(matrix.row_ptr, layout), layout);
  built.steps.push_back({"describe segments", watch.lap()});
  return built;
}

template BuiltLayout<double> build(const CsrView<double>&, const Cut&);
template BuiltLayout<float> build(const CsrView<float>&, const Cut&);

}  // namespace trireme::lsrb_csr
