// SPDX-License-Identifier: BSD-3-Clause
// Rows in GPU memory whose columns are those of a rank and, behind them, those of ghosts: joined of
// two blocks, cut at the border, and exchanged with rows of the host. Every function works in
// `stream` and may wait for it. A build without CUDA has none of them.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "multigrid/cuda/device_csr_rows.hpp"
#include "multigrid/cuda/device_parts.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// The rows of both blocks side by side, of `cols` columns. Column g of `ghost`, whose arrays are on
// the host, becomes place[g].
DeviceRows joined(const DeviceCsr<double>& local, const CsrView<double>& ghost,
                  std::span<const std::int32_t> place, std::int64_t cols, StreamRef stream);

// The first `rows` rows, a view.
DeviceCsr<double> head_of(const DeviceCsr<double>& m, std::int64_t rows, StreamRef stream);

// Copies of the given rows; `m` may have no values.
CsrMatrix<double> rows_on_host(const DeviceCsr<double>& m, std::span<const std::int32_t> rows,
                               StreamRef stream);

// `below`, whose arrays are on the host, below `above`, of `cols` columns. Columns j of `above`
// become place[j], unless `place` is empty.
DeviceRows stacked(const DeviceCsr<double>& above, std::span<const std::int32_t> place,
                   const CsrView<double>& below, std::int64_t cols, StreamRef stream);
// Gives `stack` the present values of both. Its array of values may be empty.
void stack_values(const DeviceCsr<double>& above, std::span<const double> below, DeviceRows& stack,
                  StreamRef stream);

// The entries in columns below `cols`, as rows of `cols` columns; and the rows that have others,
// ascending. The entries of a row keep their order.
DeviceRows columns_below(const DeviceCsr<double>& m, std::int64_t cols, StreamRef stream);
Array<std::int32_t> rows_beyond(const DeviceCsr<double>& m, std::int64_t cols, StreamRef stream);

// The matrix of ones whose product with `rows` rows, and others below, adds to row i those that
// members name, as in Members.
DeviceRows selection_of(std::int64_t rows, std::int64_t below, std::span<const std::int32_t> first,
                        std::span<const std::int32_t> member, StreamRef stream);

// Gives each node of a graph of this rank its edges back, those of this rank, and the edges
// of_others[first[node]] and on. Ghost g becomes node place[g]; `columns` are nodes and ghosts.
void add_edges_back(DeviceGraph& graph, std::span<const std::int32_t> place,
                    std::span<const std::int32_t> first, std::span<const std::int32_t> of_others,
                    std::int64_t columns, StreamRef stream);

// The numbers outside [first, first + own), as they come; -1 stands for none.
Array<std::int32_t> numbers_outside(DeviceSpan<const std::int32_t> numbers, std::int64_t first,
                                    std::int64_t own, StreamRef stream);
// Makes global numbers local ones, as LocalNumbers does.
void make_local(DeviceSpan<std::int32_t> numbers, std::int64_t first, std::int64_t own,
                std::span<const std::int32_t> others, StreamRef stream);

// with_global_columns() of triple_product.hpp.
DeviceRows rows_with_global_columns(const DeviceCsr<double>& from, std::int64_t cols,
                                    std::int64_t first, std::int64_t own,
                                    std::span<const std::int32_t> others, StreamRef stream);

// Columns as LocalNumbers has them in global numbers, in the place of which they come.
void make_global(DeviceSpan<std::int32_t> columns, std::int64_t first, std::int64_t own,
                 std::span<const std::int32_t> others, StreamRef stream);

}  // namespace trireme::multigrid
