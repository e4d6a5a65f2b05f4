// SPDX-License-Identifier: BSD-3-Clause
// What the memory of this machine gives, measured by this process: the yardstick of every product.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace trireme {

// GB/s (1e9 bytes), all OpenMP threads together, counted as STREAM does: the bytes that the program
// names, not the lines that a store fetches first.
struct HostBandwidth {
  double copy = 0;   // c = a         16 bytes an element
  double triad = 0;  // a = b + s c   24 bytes an element
  double read = 0;   // s = sum a      8 bytes an element: what a sparse product does most
  int threads = 1;

  double best() const { return std::max({copy, triad, read}); }
};

// The best of `repetitions` passes over three arrays of `bytes_per_array`, which should exceed the
// last cache some times over. Allocates and frees the arrays; 0.3 s with the defaults.
HostBandwidth measure_host_bandwidth(std::size_t bytes_per_array = std::size_t{128} << 20,
                                     int repetitions = 5);

// GB/s of a copy in the memory of the current GPU, read plus written: the median of 20 copies of 1
// GiB. Throws Error{resource} where there is no GPU.
double measure_device_bandwidth();

// The bytes that y = A x must move at least: what the layout stores, x once, y once.
constexpr std::int64_t product_bytes(std::int64_t stored_bytes, std::int64_t rows,
                                     std::int64_t cols, std::size_t value_bytes) {
  return stored_bytes + (rows + cols) * static_cast<std::int64_t>(value_bytes);
}

}  // namespace trireme
