// SPDX-License-Identifier: BSD-3-Clause
// Times of the products of CudaOperator: of those that were done, and of some done for the purpose.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "distributed/cuda_operator.hpp"

namespace trireme {

bool CudaOperator::time_float_products(int products) {
  if (!narrow_) return false;
  const auto rows = static_cast<std::size_t>(matrix_->local_rows());
  const DeviceBuffer<float> x(rows, stream_), y(rows, stream_);
  constexpr int kByte = 0x3f;  // x = 0.747 everywhere
  memory::fill(x.data(), kByte, rows * sizeof(float), stream_);
  const DeviceBuffer<double> partials(float_dot_partials(), stream_);
  for (int product = 0; product < products; ++product) {
    events_.begin(stream_);
    observed(Part::local,
             [&] { queue_float_product(x.view(), y.span(), partials.span(), stream_); });
    events_.end(stream_);
  }
  stream_.synchronize();
  return true;
}

double CudaOperator::measure_multi_product_us(std::int64_t width) {
  constexpr int kProducts = 3;
  const std::int64_t rows = matrix_->local_rows();
  const auto size = static_cast<std::size_t>(rows * width);
  const ScratchBuffer<double> x(size, stream_), y(size, stream_);
  fill_zero(x.span(), stream_);
  const Event begin, end;
  double least = std::numeric_limits<double>::infinity();
  for (int product = 0; product <= kProducts; ++product) {
    begin.record(stream_);
    loop_kernel().multi_multiply({x.data(), rows, width, width}, {y.data(), rows, width, width},
                                 Accumulate::no, stream_);
    end.record(stream_);
    end.synchronize();
    if (product > 0) least = std::min(least, microseconds_between(begin, end));
  }
  return least;
}

double CudaOperator::measure_product_us(int products) {
  const auto rows = static_cast<std::size_t>(matrix_->local_rows());
  const DeviceBuffer<double> x(rows, stream_), y(rows, stream_);
  constexpr int kByte = 0x3f;  // x = 4.8e-4 everywhere
  memory::fill(x.data(), kByte, rows * sizeof(double), stream_);
  CudaKernel<double>* own = permuted_ && !kernels_.local ? &permuted_->kernel() : nullptr;
  const DeviceBuffer<double> partials(own ? own->dot_partials() : dot_partials(), stream_);
  const auto multiply_once = [&] {
    if (!own)
      queue_product(x.view(), y.span(), partials.span(), stream_);
    else if (partials.size() > 0)
      own->multiply_and_dot(x.view(), y.span(), partials.span(), stream_);
    else
      own->multiply(x.view(), y.span(), Accumulate::no, stream_);
  };
  multiply_once();
  constexpr int kTogether = 3;  // between two events
  std::vector<float> us;
  Event begin, end;
  for (int done = 0; done < products; done += kTogether) {
    begin.record(stream_);
    for (int k = 0; k < kTogether; ++k) multiply_once();
    end.record(stream_);
    end.synchronize();
    us.push_back(static_cast<float>(microseconds_between(begin, end) / kTogether));
  }
  return summarise(std::move(us), products).median;
}

ProductTimes& CudaOperator::times() {
  events_.read_into(times_);
  return times_;
}

double CudaOperator::staging_us() {
  if (staged_products_ == 0) return 0;
  const double product = summarise(times().kept(), 0).mean;
  return 1e6 * staged_seconds_ / static_cast<double>(staged_products_) - product;
}

}  // namespace trireme
