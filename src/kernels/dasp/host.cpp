// SPDX-License-Identifier: BSD-3-Clause
// The host executor: y = A x on the DASP layout, one class of rows after the other, as in section
// 3.3 of the paper.
//
// Bytes moved (double): 12 per stored entry and 12 to 16 per row. The result is deterministic: one
// thread sums each row in storage order.
#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/dasp/build.hpp"
#include "kernels/dasp/dasp.hpp"
#include "kernels/lanes.hpp"

namespace trireme {
namespace {

using dasp::kPiece;

template <class Value>
class DaspHost final : public HostKernel<Value> {
 public:
  explicit DaspHost(const CsrView<Value>& matrix)
      : source_(matrix), layout_(dasp::build<Value>(matrix, steps_)) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
#pragma omp parallel
    product(NumbersOfX<Value>{x}, NumbersOfY<Value>{y, accumulate == Accumulate::yes});
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override {
    in_lanes(x, y, accumulate, [this](const auto& xs, const auto& put) {
#pragma omp parallel
      product(xs, put);
    });
  }

  void update_values(std::span<const Value> values) override {
    source_.values = values;
    dasp::update_values(layout_, source_);
  }

  KernelStatistics statistics() const override {
    const dasp::Layout<Value>& a = layout_;
    const std::size_t indices = a.stored_entries() + a.row_order.size() + a.group_ptr.size() +
                                a.rowblock_ptr.size() + a.irreg_ptr.size();
    return {.stored_bytes = static_cast<std::int64_t>(a.stored_entries() * sizeof(Value) +
                                                      indices * sizeof(std::int32_t)),
            .padding_ratio =
                a.nnz == 0
                    ? 0
                    : static_cast<double>(a.stored_entries()) / static_cast<double>(a.nnz) - 1,
            .steps = steps_};
  }

 private:
  template <class X>
  using SumOf = std::decay_t<decltype(std::declval<X>()[0])>;

  // Called by every thread of a parallel region. x[column] is a number, or the numbers of several
  // vectors. put(row, sum) gets the caller's row number.
  template <class X, class Put>
  void product(const X& x, const Put& put) const {
    long_rows(x, put);
    medium_rows(x, put);
    short_rows(x, put);
    const std::int64_t first = layout_.counts.first_empty();
#pragma omp for schedule(static)
    for (std::int64_t i = first; i < layout_.rows; ++i) put(layout_.row_order[i], SumOf<X>{});
  }

  // A padded zero has column 0, which its row may lack: x[0] must not be read for it.
  template <class X>
  static SumOf<X> term(Value value, std::int32_t column, const X& x) {
    return value == Value{} ? SumOf<X>{} : static_cast<HostSumOf<Value>>(value) * x[column];
  }

  template <class X, class Put>
  void long_rows(const X& x, const Put& put) const {
    const dasp::Layout<Value>& a = layout_;
#pragma omp for schedule(dynamic, 4) nowait
    for (std::int64_t i = 0; i < a.counts.long_rows; ++i) {
      const std::int64_t begin = std::int64_t{a.group_ptr[i]} * a.kGroup;
      const std::int64_t end = std::int64_t{a.group_ptr[i + 1]} * a.kGroup;
      SumOf<X> sum{};
      for (std::int64_t k = begin; k < end; ++k) sum += term(a.long_val[k], a.long_cid[k], x);
      put(a.row_order[i], sum);
    }
  }

  template <class X, class Put>
  void medium_rows(const X& x, const Put& put) const {
    const dasp::Layout<Value>& a = layout_;
    constexpr int rows = dasp::Layout<Value>::kRows;
    constexpr int width = dasp::Layout<Value>::kBlock / rows;
#pragma omp for schedule(static) nowait
    for (std::int64_t block = 0; block < a.row_blocks(); ++block) {
      SumOf<X> sums[rows] = {};
      for (std::int64_t at = a.rowblock_ptr[block]; at < a.rowblock_ptr[block + 1]; at += a.kBlock)
        for (int row = 0; row < rows; ++row) {
          const std::int64_t first_of_row = at + std::int64_t{row} * width;
          for (std::int64_t k = first_of_row; k < first_of_row + width; ++k)
            sums[row] += term(a.reg_val[k], a.reg_cid[k], x);
        }
      const std::int64_t first = block * rows;
      const std::int64_t last = std::min(first + rows, a.counts.medium_rows);
      for (std::int64_t medium = first; medium < last; ++medium) {
        SumOf<X> sum = sums[medium - first];
        for (std::int64_t k = a.irreg_ptr[medium]; k < a.irreg_ptr[medium + 1]; ++k)
          sum += static_cast<HostSumOf<Value>>(a.irreg_val[k]) * x[a.irreg_cid[k]];
        put(a.row_order[a.counts.first_medium() + medium], sum);
      }
    }
  }

  template <class X, class Put>
  void short_rows(const X& x, const Put& put) const {
    const dasp::Layout<Value>& a = layout_;
    const dasp::Counts& counts = a.counts;
    const auto sum = [&](std::int64_t begin, int width) {
      SumOf<X> total{};
      for (std::int64_t k = begin; k < begin + width; ++k)
        total += term(a.short_val[k], a.short_cid[k], x);
      return total;
    };
#pragma omp for schedule(static) nowait
    for (std::int64_t piece = 0; piece < counts.pieces_13; ++piece) {
      put(a.row_order[counts.first_13() + 2 * piece], sum(kPiece * piece, 1));
      put(a.row_order[counts.first_13() + 2 * piece + 1], sum(kPiece * piece + 1, 3));
    }
#pragma omp for schedule(static) nowait
    for (std::int64_t piece = 0; piece < counts.pieces_4(); ++piece)
      put(a.row_order[counts.first_4() + piece], sum(kPiece * (counts.piece_4() + piece), kPiece));
#pragma omp for schedule(static) nowait
    for (std::int64_t two = 0; two < counts.twos; ++two)
      put(a.row_order[counts.first_22() + two], sum(kPiece * counts.piece_22() + 2 * two, 2));
#pragma omp for schedule(static) nowait
    for (std::int64_t one = 0; one < counts.ones; ++one)
      put(a.row_order[counts.first_1() + one], sum(kPiece * counts.pieces() + one, 1));
  }

  CsrView<Value> source_;
  std::vector<BuildStep> steps_;
  dasp::Layout<Value> layout_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_dasp_host(const CsrView<Value>& matrix) {
  return std::make_unique<DaspHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_dasp_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_dasp_host(const CsrView<float>&);

}  // namespace trireme
