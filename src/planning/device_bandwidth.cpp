// SPDX-License-Identifier: BSD-3-Clause
// Times copies from device memory to device memory by events.
#include <algorithm>
#include <vector>

#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "planning/bandwidth.hpp"

namespace trireme {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 29;  // ten times a large L2 cache
constexpr int kCopies = 7;

}  // namespace

double measure_device_bandwidth() {
  Stream stream;
  DeviceBuffer<char> from(kCopyBytes, stream), to(kCopyBytes, stream);
  fill_zero(from.span(), stream);
  std::vector<double> times;
  Event start, stop;
  for (int repetition = 0; repetition < kCopies; ++repetition) {
    start.record(stream);
    copy_on_device(DeviceSpan<const char>(from.view()), to.span(), stream);
    stop.record(stream);
    stop.synchronize();
    times.push_back(microseconds_between(start, stop));
  }
  std::nth_element(times.begin(), times.begin() + kCopies / 2, times.end());
  return 2e-3 * static_cast<double>(kCopyBytes) / times[kCopies / 2];
}

}  // namespace trireme
