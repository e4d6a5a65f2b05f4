// SPDX-License-Identifier: BSD-3-Clause
// The original product of the document: one thread, no SIMD. The result is deterministic: each row
// is summed in storage order.
#include "kernels/albus/baseline.hpp"
#include "kernels/albus/baselines.hpp"

namespace trireme {
namespace {

template <class Value>
class AlbusNaive final : public albus::Baseline<Value> {
 public:
  using albus::Baseline<Value>::Baseline;

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    for (std::int64_t row = 0; row < a_.rows; ++row)
      store_or_add(y[row], this->sum(a_.row_ptr[row], a_.row_ptr[row + 1], x), add);
  }

 private:
  using albus::Baseline<Value>::a_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_naive_host(const CsrView<Value>& matrix) {
  return std::make_unique<AlbusNaive<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_albus_naive_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_albus_naive_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_albus_naive_host(
    const CsrView<std::int32_t>&);

}  // namespace trireme
