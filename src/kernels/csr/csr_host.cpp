// SPDX-License-Identifier: BSD-3-Clause
// One row after the other, rows shared out evenly between the OpenMP threads.
// Moves 12 bytes a nonzero (double) and 12 a row. Deterministic: a row is summed by one thread in
// storage order.
#include "kernels/csr/csr.hpp"

#include <cstdint>
#include <type_traits>

namespace trireme {
namespace {

template <class Value>
class CsrHost final : public HostKernel<Value> {
  // Integers wrap, as the unsigned do.
  using Sum = std::conditional_t<std::is_integral_v<Value>, std::uint32_t, Value>;

 public:
  explicit CsrHost(const CsrView<Value>& matrix) : a_(matrix) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const std::int32_t* row_ptr = a_.row_ptr.data();
    const std::int32_t* col_idx = a_.col_idx.data();
    const Value* values = a_.values.data();
    const bool add = accumulate == Accumulate::yes;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < a_.rows; ++row) {
      Sum sum{};
      for (std::int32_t k = row_ptr[row]; k < row_ptr[row + 1]; ++k)
        sum += static_cast<Sum>(values[k]) * static_cast<Sum>(x[col_idx[k]]);
      y[row] = static_cast<Value>(add ? static_cast<Sum>(y[row]) + sum : sum);
    }
  }

  void update_values(std::span<const Value> values) override { a_.values = values; }

  KernelStatistics statistics() const override {
    return {.stored_bytes =
                static_cast<std::int64_t>(a_.nnz() * (sizeof(Value) + sizeof(std::int32_t)) +
                                          (a_.rows + 1) * sizeof(std::int32_t)),
            .padding_ratio = 0,
            .steps = {}};
  }

 private:
  CsrView<Value> a_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr_host(const CsrView<Value>& matrix) {
  return std::make_unique<CsrHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_csr_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_csr_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_csr_host(const CsrView<std::int32_t>&);

}  // namespace trireme
