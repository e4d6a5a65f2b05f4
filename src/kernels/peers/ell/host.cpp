// SPDX-License-Identifier: BSD-3-Clause
// The host executor: all rows are padded to the longest one.
#include <algorithm>

#include "base/stopwatch.hpp"
#include "kernels/peers/ell/ell.hpp"
#include "kernels/peers/ell/memory.hpp"
#include "kernels/peers/padded_rows.hpp"

namespace trireme {
namespace {

template <class Value>
std::int64_t longest_row(const CsrView<Value>& a) {
  std::int32_t longest = 0;
#pragma omp parallel for schedule(static) reduction(max : longest)
  for (std::int64_t row = 0; row < a.rows; ++row)
    longest = std::max(longest, a.row_ptr[row + 1] - a.row_ptr[row]);
  return longest;
}

template <class Value>
class EllHost final : public HostKernel<Value> {
 public:
  explicit EllHost(const CsrView<Value>& matrix) : a_(matrix) {
    Stopwatch watch;
    const std::int64_t width = longest_row(a_);
    ell::require_memory(a_.rows, a_.nnz(), width, sizeof(Value));
    steps_.push_back({"find the longest row", watch.lap()});
    padded_ = pad_rows(a_, width);
    steps_.push_back({"pad rows", watch.lap()});
  }

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    trireme::multiply(padded_, x, y, accumulate);
  }

  void update_values(std::span<const Value> values) override {
    a_.values = values;
    fill_values(a_, padded_);
  }

  KernelStatistics statistics() const override {
    const auto nnz = static_cast<double>(a_.nnz());
    return {.stored_bytes = padded_.bytes(),
            .padding_ratio = nnz > 0 ? static_cast<double>(padded_.entries()) / nnz - 1 : 0,
            .steps = steps_};
  }

 private:
  CsrView<Value> a_;
  PaddedRows<Value> padded_;
  std::vector<BuildStep> steps_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_ell_host(const CsrView<Value>& matrix) {
  return std::make_unique<EllHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_ell_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_ell_host(const CsrView<float>&);

}  // namespace trireme
