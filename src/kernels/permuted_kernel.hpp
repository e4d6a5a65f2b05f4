// SPDX-License-Identifier: BSD-3-Clause
// A kernel that works in a row order of its own, made to multiply P A P^T in that order; and the
// measured decision whether that is worth it.
#pragma once

#include <cstdint>
#include <memory>

#include "device/buffer.hpp"
#include "kernels/kernel.hpp"

namespace trireme {

class PermutedKernel {
 public:
  // `kernel` holds the square matrix `a`, whose row_ptr outlives the result. `order`: its
  // row_order(), not empty. Synchronises `stream`.
  PermutedKernel(const CudaKernel<double>& kernel, const DeviceCsr<double>& a,
                 DeviceBuffer<std::int32_t> order, StreamRef stream);

  CudaKernel<double>& kernel() { return *kernel_; }  // of P A P^T
  DeviceSpan<const std::int32_t> order() const {
    return order_.view();
  }  // the caller's row of each
  // As the caller's CSR has them.
  void update_values(DeviceSpan<const double> values, StreamRef stream);

 private:
  DeviceSpan<const std::int32_t> callers_row_ptr_;
  DeviceBuffer<std::int32_t> order_, row_ptr_;
  std::unique_ptr<CudaKernel<double>> kernel_;
};

// When P A P^T is tried, and when it is kept.
struct PermutationRule {
  // Smaller systems are bound by launches, or run in the persistent kernel, which multiplies by
  // itself: 12 bytes a nonzero in 30 MB of shared memory.
  std::int64_t min_nonzeros = 2'500'000;
  // Of all rows, those that the kernel does not write right after their predecessor.
  double min_breaks = 0.05;
  // Products that the solve may do; the trial costs some 30.
  std::int64_t min_products = 500;
  // Products must get this much shorter, as a fraction of what they take in the caller's order.
  double min_gain = 0.03;
};

// Microseconds are medians of a few products, both orders in turns; 0: not measured.
struct PermutationTrial {
  double callers_us = 0;
  double permuted_us = 0;
  double seconds = 0;                      // that the trial took, building included
  std::unique_ptr<PermutedKernel> winner;  // null: the caller's order stays

  double gain() const { return callers_us > 0 ? 1 - permuted_us / callers_us : 0; }
};

// A kernel without an order of its own, or a P A P^T that does not fit into memory beside A, is a
// trial that the caller's order wins. Synchronises `stream`.
PermutationTrial try_permuted(CudaKernel<double>& kernel, const DeviceCsr<double>& a,
                              std::int64_t products, const PermutationRule& rule, StreamRef stream);

}  // namespace trireme
