// SPDX-License-Identifier: BSD-3-Clause
// The measurements of kernel_bench: plain data, the same for every device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme::bench {

inline constexpr int kUpdates = 9;  // timed calls of update_values() per kernel

struct Measurement {
  std::string kernel, device, precision;
  std::int64_t rows = 0, cols = 0, nnz = 0;
  double build_ms = 0;  // time of the build from a CSR in the memory of the device
  // Quantiles of the time of one product with warm caches.
  double median_us = 0, p05_us = 0, p95_us = 0;
  double cold_us = 0;             // median with the caches flushed before each product
  double gflops = 0;              // 2 nnz / median
  double gbytes_per_s = 0;        // (layout + x + y) / median
  double bandwidth_fraction = 0;  // of Bandwidth::gbytes_per_s
  std::int64_t bytes = 0;         // stored by the layout
  double padding = 0;             // stored entries / nnz - 1
  double max_error = 0;  // maximum of |y - reference| / error bound; a right y has at most 1
  std::int64_t worst_row = 0;
  bool deterministic = true;
  std::optional<double> update_us = {};  // median time of update_values()
  // Against the baseline of the same run; empty: the build never pays for itself.
  std::optional<std::int64_t> break_even_products = {};

  bool correct() const { return max_error <= 1; }  // NaN is not correct
};

struct Bandwidth {
  double gbytes_per_s = 0;
  std::string how;  // "best of copy 27.1, triad 33.0, read 36.2 GB/s, 2 threads"
};

// The results of one run on one device.
struct Results {
  Bandwidth bandwidth;
  std::string baseline;  // the kernel that the others are compared with, measured or not
  std::vector<Measurement> rows;
  std::vector<std::string> skipped = {};  // "kernel: the reason why it was not measured"
};

struct Options {
  std::vector<std::string> kernels;  // empty: every kernel for this device and precision
  std::string precision = "double";  // double | float | half | int | mixed
  double seconds = 0.5;              // minimum of timed warm products per kernel
  int products = 20;                 // minimum number of timed warm products per kernel
  int cold_products = 9;
  std::int64_t vectors = 0;  // with measure_vectors_host(): the number of vectors
  bool cpu_clock = false;    // times by the CPU clock of the thread; for one thread on the host
};

// The values of the matrix are converted to the precision first. Each kernel is checked against the
// reference, which uses the converted values, before it is timed. Throws Error{usage} for an
// unknown kernel or precision.
Results measure_host(const CsrMatrix<double>& matrix, const Options& options);

// The same on the GPU of this process. "mixed" means values in FP32 and x and y in FP64. Throws
// Error{resource} without CUDA or a GPU.
Results measure_cuda(const CsrMatrix<double>& matrix, const Options& options);

}  // namespace trireme::bench
