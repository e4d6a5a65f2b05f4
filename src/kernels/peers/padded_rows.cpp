// SPDX-License-Identifier: BSD-3-Clause
// Builds padded rows, and multiplies by them. The OpenMP threads share blocks of rows, so that a
// thread reads consecutive entries of each stored column.
#include "kernels/peers/padded_rows.hpp"

#include <algorithm>

#include "kernels/host_sum.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kPaddedRowsPerBlock = 256;

// Calls take(row, j, at) for each place `at` of each row, which is its entry j or padding.
template <class Value, class Take>
void for_each_place(const PaddedRows<Value>& padded, const Take& take) {
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < padded.rows; begin += kPaddedRowsPerBlock) {
    const std::int64_t end = std::min(begin + kPaddedRowsPerBlock, padded.rows);
    for (std::int64_t j = 0; j < padded.width; ++j)
      for (std::int64_t row = begin; row < end; ++row) take(row, j, j * padded.rows + row);
  }
}

}  // namespace

template <class Value>
PaddedRows<Value> pad_rows(const CsrView<Value>& a, std::int64_t width) {
  PaddedRows<Value> padded{.rows = a.rows, .width = width, .cols = {}, .vals = {}};
  padded.cols.resize(padded.entries());
  padded.vals.resize(padded.entries());
  for_each_place(padded, [&](std::int64_t row, std::int64_t j, std::int64_t at) {
    const std::int64_t k = a.row_ptr[row] + j;
    const bool entry = k < a.row_ptr[row + 1];
    padded.cols[at] = entry ? a.col_idx[k] : kNoColumn;
    padded.vals[at] = entry ? a.values[k] : Value{};
  });
  return padded;
}

template <class Value>
void fill_values(const CsrView<Value>& a, PaddedRows<Value>& padded) {
  for_each_place(padded, [&](std::int64_t row, std::int64_t j, std::int64_t at) {
    if (padded.cols[at] != kNoColumn) padded.vals[at] = a.values[a.row_ptr[row] + j];
  });
}

template <class Value>
void multiply(const PaddedRows<Value>& padded, std::span<const Value> x, std::span<Value> y,
              Accumulate accumulate) {
  const bool add = accumulate == Accumulate::yes;
#pragma omp parallel for schedule(static)
  for (std::int64_t begin = 0; begin < padded.rows; begin += kPaddedRowsPerBlock) {
    const std::int64_t count = std::min(kPaddedRowsPerBlock, padded.rows - begin);
    HostSumOf<Value> sums[kPaddedRowsPerBlock] = {};
    for (std::int64_t j = 0; j < padded.width; ++j) {
      const std::int32_t* cols = padded.cols.data() + j * padded.rows + begin;
      const Value* vals = padded.vals.data() + j * padded.rows + begin;
      for (std::int64_t i = 0; i < count; ++i)
        if (cols[i] != kNoColumn) sums[i] += term_of_sum(vals[i], x[cols[i]]);
    }
    for (std::int64_t i = 0; i < count; ++i) store_or_add(y[begin + i], sums[i], add);
  }
}

template PaddedRows<double> pad_rows(const CsrView<double>&, std::int64_t);
template PaddedRows<float> pad_rows(const CsrView<float>&, std::int64_t);
template void fill_values(const CsrView<double>&, PaddedRows<double>&);
template void fill_values(const CsrView<float>&, PaddedRows<float>&);
template void multiply(const PaddedRows<double>&, std::span<const double>, std::span<double>,
                       Accumulate);
template void multiply(const PaddedRows<float>&, std::span<const float>, std::span<float>,
                       Accumulate);

}  // namespace trireme
