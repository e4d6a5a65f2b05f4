// SPDX-License-Identifier: BSD-3-Clause
// Sorts the rows of each panel by length, merges them into blocks, and copies the rows to their
// places.
#include "kernels/teb/build.hpp"

#include <numeric>
#include <utility>

#include "base/stopwatch.hpp"

namespace trireme::teb {
namespace {

// The rows of one panel in their final order, and where the blocks begin in that order.
struct Panel {
  std::vector<std::int32_t> row_order;
  std::vector<std::int32_t> block_starts;
};

// The rows of a panel that are neither empty nor long, longest first, ties in row order. This is a
// counting sort.
std::vector<std::int32_t> sort_rows(std::span<const std::int32_t> row_ptr, std::int64_t first_row,
                                    std::int64_t last_row, std::int32_t threshold) {
  std::vector<std::int32_t> next(threshold + 1);  // the next place of a row of each length
  const auto length_of = [&](std::int64_t row) { return row_ptr[row + 1] - row_ptr[row]; };
  const auto belongs = [&](std::int32_t length) { return length > 0 && length <= threshold; };
  for (std::int64_t row = first_row; row < last_row; ++row)
    if (belongs(length_of(row))) ++next[length_of(row)];
  std::int32_t place = 0;
  for (std::int32_t length = threshold; length > 0; --length)
    place += std::exchange(next[length], place);
  std::vector<std::int32_t> sorted(place);
  for (std::int64_t row = first_row; row < last_row; ++row)
    if (belongs(length_of(row))) sorted[next[length_of(row)]++] = static_cast<std::int32_t>(row);
  return sorted;
}

Panel make_panel(std::span<const std::int32_t> row_ptr, std::int64_t first_row,
                 std::int64_t last_row, std::int32_t threshold) {
  const std::vector<std::int32_t> sorted = sort_rows(row_ptr, first_row, last_row, threshold);
  std::vector<std::int32_t> sum(sorted.size() + 1);
  for (std::size_t k = 0; k < sorted.size(); ++k)
    sum[k + 1] = sum[k] + row_ptr[sorted[k] + 1] - row_ptr[sorted[k]];

  Panel panel;
  panel.row_order.reserve(sorted.size());
  merge_rows(sum, threshold, [&](std::ptrdiff_t first, std::ptrdiff_t begin, std::ptrdiff_t end) {
    panel.block_starts.push_back(static_cast<std::int32_t>(panel.row_order.size()));
    panel.row_order.push_back(sorted[first]);
    while (end > begin) panel.row_order.push_back(sorted[--end]);
  });
  return panel;
}

// Stores in order[first ..] the rows whose length `belongs` accepts, in row order.
template <class Belongs>
void append_rows(std::span<const std::int32_t> row_ptr, Array<std::int32_t>& order,
                 std::int64_t first, Belongs belongs) {
  for (std::int64_t row = 0; row < std::ssize(row_ptr) - 1; ++row)
    if (belongs(row_ptr[row + 1] - row_ptr[row])) order[first++] = static_cast<std::int32_t>(row);
}

template <class Value>
void order_rows(std::span<const std::int32_t> row_ptr, const Plan& plan, Layout<Value>& layout) {
  const std::int64_t rows = layout.rows, panels = plan.panels(rows);
  std::vector<Panel> made(panels);
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t p = 0; p < panels; ++p)
    made[p] = make_panel(row_ptr, p * plan.panel_rows, std::min((p + 1) * plan.panel_rows, rows),
                         layout.threshold);

  layout.row_order.resize(rows);
  Array<std::int32_t>& order = layout.row_order;
  const auto length_of = [&](std::int32_t row) { return row_ptr[row + 1] - row_ptr[row]; };
  if (plan.long_rows > 0) {
    append_rows(row_ptr, order, 0, [&](std::int32_t length) { return length > layout.threshold; });
    std::stable_sort(order.begin(), order.begin() + plan.long_rows,
                     [&](std::int32_t a, std::int32_t b) { return length_of(a) > length_of(b); });
  }
  layout.blo_idx.resize(plan.long_rows);
  std::iota(layout.blo_idx.begin(), layout.blo_idx.end(), 0);

  std::int64_t position = plan.long_rows;
  for (const Panel& panel : made) {
    for (const std::int32_t start : panel.block_starts)
      layout.blo_idx.push_back(static_cast<std::int32_t>(position + start));
    std::copy(panel.row_order.begin(), panel.row_order.end(), order.begin() + position);
    position += std::ssize(panel.row_order);
  }
  if (plan.empty_rows > 0)
    append_rows(row_ptr, order, position, [](std::int32_t length) { return length == 0; });
  for (; position < rows; position += kEmptyRowsPerBlock)
    layout.blo_idx.push_back(static_cast<std::int32_t>(position));
  layout.blo_idx.push_back(static_cast<std::int32_t>(rows));
}

template <class From>
void copy_rows(std::span<const std::int32_t> row_ptr, std::span<const std::int32_t> row_order,
               std::span<const std::int32_t> rownnz_sum, std::span<const From> from, From* to) {
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::int64_t position = 0; position < std::ssize(row_order); ++position) {
    const std::int32_t row = row_order[position];
    std::copy(from.begin() + row_ptr[row], from.begin() + row_ptr[row + 1],
              to + rownnz_sum[position]);
  }
}

}  // namespace

RowRuns count_rows(std::span<const std::int32_t> row_ptr) {
  std::vector<std::int64_t> counts(kMaxNonzeros + 1);
  std::vector<std::int32_t> longer;
  for (std::int64_t row = 0; row + 1 < std::ssize(row_ptr); ++row) {
    const std::int32_t length = row_ptr[row + 1] - row_ptr[row];
    if (length <= kMaxNonzeros)
      ++counts[length];
    else
      longer.push_back(length);
  }
  return runs_of(counts, std::move(longer));
}

template <class Value>
void reorder_values(std::span<const std::int32_t> row_ptr, std::span<const Value> csr_values,
                    Layout<Value>& layout) {
  copy_rows(row_ptr, layout.row_order, layout.rownnz_sum, csr_values, layout.values.data());
}

template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix) {
  Stopwatch watch;
  const Plan plan = make_plan(matrix.rows, count_rows(matrix.row_ptr));
  const double seconds = watch.seconds();
  BuiltLayout<Value> built = build(matrix, plan);
  built.steps.insert(built.steps.begin(), {"choose the threshold", seconds});
  return built;
}

template <class Value>
BuiltLayout<Value> build(const CsrView<Value>& matrix, const Plan& plan) {
  Stopwatch watch;
  BuiltLayout<Value> built;
  Layout<Value>& layout = built.layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz();
  layout.threshold = plan.threshold.nonzeros;
  layout.long_rows = plan.long_rows;
  order_rows(matrix.row_ptr, plan, layout);

  layout.rownnz_sum.resize(layout.rows + 1);
  layout.rownnz_sum[0] = 0;
  for (std::int64_t position = 0; position < layout.rows; ++position) {
    const std::int32_t row = layout.row_order[position];
    layout.rownnz_sum[position + 1] =
        layout.rownnz_sum[position] + matrix.row_ptr[row + 1] - matrix.row_ptr[row];
  }
  built.steps.push_back({"order and merge rows", watch.lap()});

  layout.values.resize(layout.nnz);
  layout.col_idx.resize(layout.nnz);
  copy_rows(matrix.row_ptr, layout.row_order, layout.rownnz_sum, matrix.col_idx,
            layout.col_idx.data());
  reorder_values(matrix.row_ptr, matrix.values, layout);
  built.steps.push_back({"copy entries", watch.lap()});
  return built;
}

#define TRIREME_INSTANTIATE(Value)                                                    \
  template BuiltLayout<Value> build(const CsrView<Value>&);                           \
  template BuiltLayout<Value> build(const CsrView<Value>&, const Plan&);              \
  template void reorder_values(std::span<const std::int32_t>, std::span<const Value>, \
                               Layout<Value>&);
TRIREME_INSTANTIATE(double)
TRIREME_INSTANTIATE(float)
#undef TRIREME_INSTANTIATE

}  // namespace trireme::teb
