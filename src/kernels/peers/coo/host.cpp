// SPDX-License-Identifier: BSD-3-Clause
// The host executor: y is zeroed, and the segments of the entries are added to it.
#include <algorithm>

#include "base/stopwatch.hpp"
#include "kernels/peers/coo/coo.hpp"
#include "kernels/peers/coordinates.hpp"

namespace trireme {
namespace {

template <class Value>
class CooHost final : public HostKernel<Value> {
 public:
  explicit CooHost(const CsrView<Value>& matrix) : a_(matrix) {
    const Stopwatch watch;
    entries_ = entries_after(a_, 0);
    carries_.resize(entries_.segments());
    seconds_ = watch.seconds();
  }

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    if (accumulate == Accumulate::no) {
#pragma omp parallel for schedule(static)
      for (std::int64_t row = 0; row < a_.rows; ++row) y[row] = Value{};
    }
    add_product<Value>(entries_, x, y, carries_);
  }

  void update_values(std::span<const Value> values) override {
    a_.values = values;
    fill_values(a_, 0, entries_);
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes = entries_.bytes(),
            .padding_ratio = 0,
            .steps = {{"write the rows of the entries", seconds_}}};
  }

 private:
  CsrView<Value> a_;
  Coordinates<Value> entries_;
  Array<HostSumOf<Value>> carries_;
  double seconds_ = 0;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_coo_host(const CsrView<Value>& matrix) {
  return std::make_unique<CooHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_coo_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_coo_host(const CsrView<float>&);

}  // namespace trireme
