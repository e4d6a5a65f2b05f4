// SPDX-License-Identifier: BSD-3-Clause
// A kernel that multiplies P A P^T, where the permutation P is the row order in which the kernel
// works best; and the decision, by measurement, whether that is faster than the caller's order.
#pragma once

#include <cstdint>
#include <memory>

#include "device/buffer.hpp"
#include "kernels/kernel.hpp"

namespace trireme {

class PermutedKernel {
 public:
  // `kernel` was built for the square matrix `a`, whose row_ptr must outlive this object. `order`
  // is the kernel's row_order() and is not empty. Synchronises `stream`.
  PermutedKernel(const CudaKernel<double>& kernel, const DeviceCsr<double>& a,
                 DeviceBuffer<std::int32_t> order, StreamRef stream);

  CudaKernel<double>& kernel() { return *kernel_; }  // of P A P^T
  // The caller's row of each row of P A P^T.
  DeviceSpan<const std::int32_t> order() const {
    return composed_.empty() ? order_.view() : composed_.view();
  }
  // For a matrix `a` whose rows are in the order `outer` of the caller's rows already: order() then
  // includes that order. Asynchronous in `stream`.
  void compose_with(DeviceSpan<const std::int32_t> outer, StreamRef stream);
  // Stores new values, which are in the order of the caller's CSR. Asynchronous in `stream`.
  void update_values(DeviceSpan<const double> values, StreamRef stream);

 private:
  DeviceSpan<const std::int32_t> callers_row_ptr_;
  DeviceBuffer<std::int32_t> order_;     // the row of `a` of each row
  DeviceBuffer<std::int32_t> composed_;  // empty: order_
  DeviceBuffer<std::int32_t> row_ptr_;
  std::unique_ptr<CudaKernel<double>> kernel_;
};

// The rule by which P A P^T is tried, and kept.
struct PermutationRule {
  // Smaller systems are limited by the latency of launches. Or they run in the persistent kernel,
  // which has its own product: 12 bytes per nonzero in 30 MB of shared memory.
  std::int64_t min_nonzeros = 2'500'000;
  // The minimum of breaks_in(row_order()) as a fraction of all rows.
  double min_breaks = 0.05;
  // The minimum of the products that the solve may do; a trial costs about 30 products.
  std::int64_t min_products = 500;
  // The minimum of the time saved per product, as a fraction of the time in the caller's order.
  double min_gain = 0.03;
};

struct PermutationTrial {
  // Median microseconds per product in the caller's order and in the order of the kernel, measured
  // in turns. Both are 0 where nothing was measured.
  double callers_us = 0;
  double permuted_us = 0;
  double seconds = 0;                      // duration of the trial, with the build of P A P^T
  std::unique_ptr<PermutedKernel> winner;  // null where the caller's order stays

  double gain() const { return callers_us > 0 ? 1 - permuted_us / callers_us : 0; }
};

// Measures the products of `kernel`, which was built for `a`, in both orders. `products` is the
// number of products that the solve may do. The caller's order stays where the kernel has no row
// order of its own and where P A P^T does not fit into device memory beside A. Synchronises
// `stream`.
PermutationTrial try_permuted(CudaKernel<double>& kernel, const DeviceCsr<double>& a,
                              std::int64_t products, const PermutationRule& rule, StreamRef stream);

}  // namespace trireme
