// SPDX-License-Identifier: BSD-3-Clause
// What kernel_bench measures: plain data, the same for every device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme::bench {

struct Measurement {
  std::string kernel, device, precision;
  std::int64_t rows = 0, cols = 0, nnz = 0;
  double build_ms = 0;  // from a CSR in the device's memory to ready to multiply
  // One product, caches warm: quantiles over all repetitions.
  double median_us = 0, p05_us = 0, p95_us = 0;
  double cold_us = 0;             // median with the caches flushed before each product
  double gflops = 0;              // 2 nnz / median
  double gbytes_per_s = 0;        // (layout + x + y) / median
  double bandwidth_fraction = 0;  // of Bandwidth::gbytes_per_s
  std::int64_t bytes = 0;         // stored by the layout
  double padding = 0;             // stored entries / nnz - 1
  double max_error = 0;           // worst |y - reference| in units of its error bound: at most 1
  std::int64_t worst_row = 0;
  bool deterministic = true;
  std::optional<double> update_us = {};  // new values on the same pattern; measured on GPUs
  // Against the baseline of the same run; empty: the build never pays for itself.
  std::optional<std::int64_t> break_even_products = {};

  bool correct() const { return max_error <= 1; }  // false for NaN
};

struct Bandwidth {
  double gbytes_per_s = 0;
  std::string how;  // "best of copy 27.1, triad 33.0, read 36.2 GB/s, 2 threads"
};

// One device's run: its own bandwidth, then a row a kernel.
struct Results {
  Bandwidth bandwidth;
  std::string baseline;  // the kernel that the others are compared with, measured or not
  std::vector<Measurement> rows;
  std::vector<std::string> skipped = {};  // "kernel: why it does not take this matrix"
};

struct Options {
  std::vector<std::string> kernels;  // empty: every one that has this device and precision
  std::string precision = "double";  // double | float | half | int | mixed
  double seconds = 0.5;              // of warm products a kernel, at least
  int products = 20;                 // warm products a kernel, at least
  int cold_products = 9;
  bool cpu_clock = false;  // host, one thread: its CPU time, which a busy machine hardly disturbs
};

// Each kernel on every product is checked before it is timed. The matrix's values are converted to
// the precision first, and the reference uses the converted ones.
Results measure_host(const CsrMatrix<double>& matrix, const Options& options);

// The same on the GPU of this process; break-even against cusparse-csr. "mixed": values stored in
// FP32, x and y in FP64. Throws Error{resource} without CUDA or a GPU.
Results measure_cuda(const CsrMatrix<double>& matrix, const Options& options);

}  // namespace trireme::bench
