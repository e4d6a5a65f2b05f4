// SPDX-License-Identifier: BSD-3-Clause
// The memory bandwidth of this machine, measured by this process. Products are compared with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace trireme {

// Rates in GB/s (1e9 bytes per second) of all OpenMP threads together. Bytes are counted as in
// STREAM: those that the program reads and writes, without the cache lines that a store fetches
// first.
struct HostBandwidth {
  double copy = 0;   // c = a         16 bytes per element
  double triad = 0;  // a = b + s c   24 bytes per element
  double read = 0;   // s = sum a      8 bytes per element; a sparse product mainly reads
  int threads = 1;

  double best() const { return std::max({copy, triad, read}); }
};

inline constexpr std::size_t kBandwidthArrayBytes = std::size_t{128} << 20;

// Measures the best of `repetitions` passes over three arrays of `bytes_per_array` bytes each,
// which should be several times larger than the last cache. Allocates and frees the arrays. Takes
// 0.3 s with the default arguments.
HostBandwidth measure_host_bandwidth(std::size_t bytes_per_array = kBandwidthArrayBytes,
                                     int repetitions = 5);

// The rate, in GB/s, of copies in the memory of the current GPU, counting bytes read and bytes
// written: the median of 20 copies of 1 GiB. Throws Error{resource} where there is no GPU.
double measure_device_bandwidth();

// The minimum of the bytes that y = A x moves: the layout, x and y once each.
constexpr std::int64_t product_bytes(std::int64_t stored_bytes, std::int64_t rows,
                                     std::int64_t cols, std::size_t value_bytes) {
  return stored_bytes + (rows + cols) * static_cast<std::int64_t>(value_bytes);
}

}  // namespace trireme
