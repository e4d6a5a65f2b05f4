// SPDX-License-Identifier: BSD-3-Clause
// The kernel contract: a matrix prepared once, multiplied by many times.
//
// Every kernel, on every executor: y = A x and y += A x, any shape (empty, rectangular, empty rows,
// one dense row, unsorted columns), the same bits from run to run unless its registration says
// otherwise, and new values on the same pattern without a rebuild. y is in the caller's row order
// and need not be initialised. Nothing is allocated while it multiplies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"

namespace trireme {

enum class Accumulate : bool {
  no,  // y = A x
  yes  // y += A x
};

struct BuildStep {
  std::string name;  // "classify rows", "reorder", ...
  double seconds = 0;
};

struct KernelStatistics {
  std::int64_t stored_bytes = 0;  // what one product reads of the layout: values, indices, pointers
  double padding_ratio = 0;       // stored entries / nnz - 1
  std::vector<BuildStep> steps;   // in order; their sum is the preprocessing time
};

// A matrix prepared for the host. multiply() may use every OpenMP thread; one call at a time.
template <class Value>
class HostKernel {
 public:
  virtual ~HostKernel() = default;
  HostKernel() = default;
  HostKernel(const HostKernel&) = delete;
  HostKernel& operator=(const HostKernel&) = delete;

  // x.size() == cols, y.size() == rows; x and y do not overlap.
  virtual void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) = 0;
  // New values in the order of the CSR that the kernel was built from. That CSR's values may change
  // only through this call.
  virtual void update_values(std::span<const Value> values) = 0;
  virtual KernelStatistics statistics() const = 0;
};

// A matrix prepared for one GPU. Calls are asynchronous in `stream`, which may be under capture.
template <class Value>
class CudaKernel {
 public:
  virtual ~CudaKernel() = default;
  CudaKernel() = default;
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  virtual void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                        StreamRef stream) = 0;
  virtual void update_values(DeviceSpan<const Value> values, StreamRef stream) = 0;
  virtual KernelStatistics statistics() const = 0;

  // For solvers, where the kernel can. dot_partials() > 0: multiply_and_dot() does y = A x and
  // writes dot_partials() numbers, in a fixed order, whose sum is the dot product of x and y
  // (square A).
  virtual std::size_t dot_partials() const { return 0; }
  virtual void multiply_and_dot(DeviceSpan<const Value> /*x*/, DeviceSpan<Value> /*y*/,
                                DeviceSpan<double> /*partials*/, StreamRef /*stream*/) {}
  // The caller's row for each row in the order in which the kernel writes them; empty where that is
  // the caller's. Computed anew; synchronises `stream`.
  virtual DeviceBuffer<std::int32_t> row_order(StreamRef /*stream*/) const { return {}; }
  // The same kernel for `permuted` = P A P^T, whose rows are in row_order(): it writes y in order.
  // Null where that is empty. Synchronises `stream`; later it reads only row_ptr of `permuted`.
  virtual std::unique_ptr<CudaKernel> in_row_order(const DeviceCsr<Value>& /*permuted*/,
                                                   StreamRef /*stream*/) const {
    return nullptr;
  }
};

}  // namespace trireme
