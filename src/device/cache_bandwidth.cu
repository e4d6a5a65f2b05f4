// SPDX-License-Identifier: BSD-3-Clause
// Times batches of short passes by events.
#include "device/cache_bandwidth.hpp"

#include <algorithm>
#include <cstdint>

#include "device/block_sum.cuh"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "device/stream.hpp"

namespace trireme {
namespace {

constexpr int kReadThreads = 512, kReadBlocksPerMultiprocessor = 4;
constexpr int kBatches = 20, kPasses = 20;

// The sums are there so that the compiler keeps the reads.
__global__ void __launch_bounds__(kReadThreads)
    read_kernel(const double2* from, std::int64_t size, double* sums) {
  double sum = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kReadThreads + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * kReadThreads)
    sum += from[i].x + from[i].y;
  sum = block_sum<kReadThreads>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Of a pass, in microseconds.
template <class Pass>
double best_time(StreamRef stream, Pass&& pass) {
  double best = 0;
  const Event start, stop;
  for (int batch = 0; batch < kBatches; ++batch) {
    start.record(stream);
    for (int i = 0; i < kPasses; ++i) pass();
    stop.record(stream);
    stop.synchronize();
    const double time = microseconds_between(start, stop) / kPasses;
    if (batch == 0 || time < best) best = time;
  }
  return best;
}

}  // namespace

double measure_device_cache(std::size_t bytes) {
  const std::size_t pairs = std::max(bytes / sizeof(double2), std::size_t{2});
  const int blocks = kReadBlocksPerMultiprocessor * multiprocessors();
  Stream stream;
  const DeviceBuffer<double2> array(pairs, stream);
  const DeviceBuffer<double> sums(blocks, stream);
  fill_zero(array.span(), stream);
  const double read = best_time(stream, [&] {
    read_kernel<<<blocks, kReadThreads, 0, stream>>>(array.data(), static_cast<std::int64_t>(pairs),
                                                     sums.data());
    check_launch();
  });
  const std::size_t half = pairs / 2;
  const double copy = best_time(stream, [&] {
    copy_on_device(array.view().subspan(0, half), array.span().subspan(half, half), stream);
  });
  const double pair_bytes = sizeof(double2);
  return 1e-3 * std::max(pair_bytes * static_cast<double>(pairs) / read,
                         2 * pair_bytes * static_cast<double>(half) / copy);
}

}  // namespace trireme
