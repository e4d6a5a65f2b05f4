// SPDX-License-Identifier: BSD-3-Clause
// Builds P A P^T beside A and times the products of both.
#include "kernels/permuted_kernel.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "kernels/permutation.hpp"

namespace trireme {
namespace {

constexpr int kRounds = 3;
constexpr int kProductsPerRound = 3;

// Times products as a solver's loop does them: with the dot product where the kernel has it.
class TimedProducts {
 public:
  TimedProducts(CudaKernel<double>& kernel, DeviceSpan<const double> x, DeviceSpan<double> y,
                StreamRef stream)
      : kernel_(kernel), x_(x), y_(y), partials_(kernel.dot_partials(), stream), stream_(stream) {
    multiply();
  }
  void round(int number) {
    begin_.record(stream_);
    for (int product = 0; product < kProductsPerRound; ++product) multiply();
    end_.record(stream_);
    end_.synchronize();
    us_[number] = microseconds_between(begin_, end_) / kProductsPerRound;
  }
  double median() {
    std::sort(us_.begin(), us_.end());
    return us_[kRounds / 2];
  }

 private:
  void multiply() {
    if (partials_.size() > 0)
      kernel_.multiply_and_dot(x_, y_, partials_.span(), stream_);
    else
      kernel_.multiply(x_, y_, Accumulate::no, stream_);
  }

  CudaKernel<double>& kernel_;
  DeviceSpan<const double> x_;
  DeviceSpan<double> y_;
  DeviceBuffer<double> partials_;
  StreamRef stream_;
  Event begin_, end_;
  std::array<double, kRounds> us_{};
};

}  // namespace

PermutedKernel::PermutedKernel(const CudaKernel<double>& kernel, const DeviceCsr<double>& a,
                               DeviceBuffer<std::int32_t> order, StreamRef stream)
    : callers_row_ptr_(a.row_ptr), order_(std::move(order)) {
  DeviceCsrMatrix<double> permuted = permuted_matrix(a, order_.view(), stream);
  kernel_ = kernel.in_row_order(permuted.view(), stream);
  row_ptr_ = std::move(permuted.row_ptr);  // The kernel has its own columns and values.
}

void PermutedKernel::compose_with(DeviceSpan<const std::int32_t> outer, StreamRef stream) {
  composed_ = DeviceBuffer<std::int32_t>(order_.size(), stream);
  compose(outer, order_.view(), composed_.span(), stream);
}

void PermutedKernel::update_values(DeviceSpan<const double> values, StreamRef stream) {
  const ScratchBuffer<double> permuted(values.size(), stream);
  permute_values(callers_row_ptr_, values, order_.view(), row_ptr_.view(), permuted.span(), stream);
  kernel_->update_values(permuted.view(), stream);
}

PermutationTrial try_permuted(CudaKernel<double>& kernel, const DeviceCsr<double>& a,
                              std::int64_t products, const PermutationRule& rule,
                              StreamRef stream) {
  const Stopwatch watch;
  PermutationTrial trial;
  if (a.rows != a.cols || a.nnz < rule.min_nonzeros || products < rule.min_products) return trial;
  DeviceBuffer<std::int32_t> order = kernel.row_order(stream);
  if (order.empty() || static_cast<double>(breaks_in(order.view(), stream)) <
                           rule.min_breaks * static_cast<double>(a.rows))
    return trial;
  try {
    auto permuted = std::make_unique<PermutedKernel>(kernel, a, std::move(order), stream);
    const DeviceBuffer<double> x(a.rows, stream), y(a.rows, stream);
    fill_zero(x.span(), stream);
    TimedProducts callers(kernel, x.view(), y.span(), stream);
    TimedProducts own(permuted->kernel(), x.view(), y.span(), stream);
    for (int round = 0; round < kRounds; ++round) {
      callers.round(round);
      own.round(round);
    }
    trial.callers_us = callers.median();
    trial.permuted_us = own.median();
    if (trial.gain() >= rule.min_gain) trial.winner = std::move(permuted);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
  }
  trial.seconds = watch.seconds();
  return trial;
}

}  // namespace trireme
