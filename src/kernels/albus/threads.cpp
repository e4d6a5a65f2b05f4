// SPDX-License-Identifier: BSD-3-Clause
// Equal numbers of nonzeros per thread, without SIMD. The heads of the parts are added in their
// order, so that the result is deterministic for the same number of threads.
#include <omp.h>

#include <algorithm>
#include <vector>

#include "base/stopwatch.hpp"
#include "kernels/albus/baseline.hpp"
#include "kernels/albus/baselines.hpp"
#include "kernels/albus/build.hpp"

namespace trireme {
namespace {

template <class Value>
class AlbusThreads final : public albus::Baseline<Value> {
 public:
  explicit AlbusThreads(const CsrView<Value>& matrix) : albus::Baseline<Value>(matrix) {
    const Stopwatch watch;
    if (a_.rows > 0) parts_ = albus::partition(a_.row_ptr, omp_get_max_threads());
    result_mid_.resize(parts_.size());
    seconds_ = watch.seconds();
  }

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    const auto parts = static_cast<std::int64_t>(parts_.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t t = 0; t < parts; ++t) {
      const albus::Part& part = parts_[t];
      result_mid_[t] = this->sum(part.start1, std::max(part.start1, part.head_end), x);
      for (std::int32_t row = part.start; row < part.end; ++row)
        store_or_add(y[row],
                     this->sum(a_.row_ptr[row], std::min(a_.row_ptr[row + 1], part.end1), x), add);
    }
    AddShares<Value> shares;
    for (std::int64_t t = 0; t < parts; ++t)
      if (parts_[t].has_head()) shares.add(y[parts_[t].start - 1], result_mid_[t]);
  }

  KernelStatistics statistics() const override {
    KernelStatistics statistics = albus::Baseline<Value>::statistics();
    statistics.steps = {{"cut", seconds_}};
    return statistics;
  }

 private:
  using albus::Baseline<Value>::a_;
  std::vector<albus::Part> parts_;
  std::vector<HostSumOf<Value>> result_mid_;  // the head of each part
  double seconds_ = 0;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_threads_host(const CsrView<Value>& matrix) {
  return std::make_unique<AlbusThreads<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_albus_threads_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_albus_threads_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_albus_threads_host(
    const CsrView<std::int32_t>&);

}  // namespace trireme
