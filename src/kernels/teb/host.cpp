// SPDX-License-Identifier: BSD-3-Clause
// The host executor, the readable specification of the CUDA executor: the OpenMP threads share the
// blocks, as the thread blocks of a GPU do (paper, section 3.2, algorithm 3).
//
// Bytes moved (double): 12 per nonzero and 16 per row. The result is deterministic: one thread sums
// each row in storage order.
#include <type_traits>

#include "kernels/lanes.hpp"
#include "kernels/teb/build.hpp"
#include "kernels/teb/teb.hpp"

namespace trireme {
namespace {

template <class Value>
class TebHost final : public HostKernel<Value> {
 public:
  explicit TebHost(const CsrView<Value>& matrix)
      : row_ptr_(matrix.row_ptr), built_(teb::build(matrix)) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    product(NumbersOfX<Value>{x}, NumbersOfY<Value>{y, accumulate == Accumulate::yes});
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override {
    in_lanes(x, y, accumulate, [this](const auto& xs, const auto& put) { product(xs, put); });
  }

  void update_values(std::span<const Value> values) override {
    teb::reorder_values(row_ptr_, values, built_.layout);
  }

  KernelStatistics statistics() const override {
    const teb::Layout<Value>& a = built_.layout;
    return {.stored_bytes =
                static_cast<std::int64_t>(a.nnz * (sizeof(Value) + sizeof(std::int32_t)) +
                                          (2 * a.rows + a.blocks() + 2) * sizeof(std::int32_t)),
            .padding_ratio = 0,
            .steps = built_.steps};
  }

 private:
  // x[column] is a number, or the numbers of several vectors. put(row, sum) gets the caller's row.
  template <class X, class Put>
  void product(const X& x, const Put& put) const {
    using Sum = std::decay_t<decltype(x[0])>;
    const teb::Layout<Value>& a = built_.layout;
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t block = 0; block < a.blocks(); ++block)
      for (std::int32_t row = a.blo_idx[block]; row < a.blo_idx[block + 1]; ++row) {
        Sum sum{};
        for (std::int32_t k = a.rownnz_sum[row]; k < a.rownnz_sum[row + 1]; ++k)
          sum += static_cast<HostSumOf<Value>>(a.values[k]) * x[a.col_idx[k]];
        put(a.row_order[row], sum);
      }
  }

  std::span<const std::int32_t> row_ptr_;
  teb::BuiltLayout<Value> built_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_teb_host(const CsrView<Value>& matrix) {
  return std::make_unique<TebHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_teb_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_teb_host(const CsrView<float>&);

}  // namespace trireme
