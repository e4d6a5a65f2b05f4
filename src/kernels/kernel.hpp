// SPDX-License-Identifier: BSD-3-Clause
// The kernel contract. A kernel is a matrix that is prepared once and multiplied by many vectors.
//
// Every kernel keeps these promises on every executor:
//  - It computes y = A x and y += A x for any shape: an empty matrix, a rectangular one, empty
//    rows, a dense row, unsorted columns.
//  - It gives the same bits in every run, unless its registry entry says otherwise.
//  - It takes new values on the same pattern without a rebuild.
//  - x and y are in the caller's order. For y = A x, y need not be initialised.
//  - multiply() allocates no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/buffer.hpp"
#include "device/multi_vector.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "sparse/multi_vector.hpp"

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
  std::int64_t stored_bytes = 0;  // of the layout: values, indices, pointers; read once per product
  double padding_ratio = 0;       // stored entries / nnz - 1
  std::vector<BuildStep> steps;   // the timed steps of the build, in their order
};

// A matrix prepared for the host. multiply() may use every OpenMP thread. Only one member function
// of an object may run at a time.
// Numbers of FP32 are multiplied and summed in FP64, and rounded as host_sum.hpp says.
template <class Value>
class HostKernel {
 public:
  virtual ~HostKernel() = default;
  HostKernel() = default;
  HostKernel(const HostKernel&) = delete;
  HostKernel& operator=(const HostKernel&) = delete;

  // x has `cols` elements and y has `rows`; they do not overlap.
  virtual void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) = 0;
  // Stores new values, which are in the order of the CSR that the kernel was built from. `values`
  // must outlive the kernel or the next call, because a kernel may keep the view. The values of the
  // CSR may change only through this call.
  virtual void update_values(std::span<const Value> values) = 0;
  virtual KernelStatistics statistics() const = 0;

  // A product with several vectors, which reads the matrix once for many of them. Where
  // multiplies_vectors(), multi_multiply() computes Y = A X or Y += A X for any width. X has `cols`
  // rows and Y has `rows`; their vectors lie side by side (vector_stride 1) and they do not
  // overlap. MultiProduct (multi_product.hpp) takes every other layout, and kernels without this
  // product.
  virtual bool multiplies_vectors() const { return false; }
  virtual void multi_multiply(MultiVector<const Value> /*x*/, MultiVector<Value> /*y*/,
                              Accumulate /*accumulate*/) {}
};

// A matrix prepared for one GPU. multiply() and multiply_and_dot() are asynchronous in `stream`,
// which may be recorded into a CUDA graph. The conditions on sizes and values are those of
// HostKernel.
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

  // A product with several vectors, as that of HostKernel: where multiplies_vectors(),
  // multi_multiply() computes Y = A X or Y += A X for any width, asynchronously in `stream`. The
  // vectors lie side by side (vector_stride 1) and X and Y do not overlap.
  virtual bool multiplies_vectors() const { return false; }
  virtual void multi_multiply(DeviceMultiVector<const Value> /*x*/, DeviceMultiVector<Value> /*y*/,
                              Accumulate /*accumulate*/, StreamRef /*stream*/) {}

  // A product fused with a dot product, for solvers. Where dot_partials() > 0 (A is square then),
  // multiply_and_dot() computes y = A x and writes dot_partials() numbers, in a fixed order, whose
  // sum is the dot product of x and y.
  virtual std::size_t dot_partials() const { return 0; }
  virtual void multiply_and_dot(DeviceSpan<const Value> /*x*/, DeviceSpan<Value> /*y*/,
                                DeviceSpan<double> /*partials*/, StreamRef /*stream*/) {}

  // From now on, and until a call with an empty span, all products with one vector are those of
  // A + diag(diagonal), for a square A, and where Value is float so are those with several vectors.
  // The caller keeps `diagonal`, whose numbers may change. False: the kernel cannot do this. True
  // also says that numbers of FP32 are summed in FP64.
  virtual bool add_diagonal(DeviceSpan<const float> /*diagonal*/) { return false; }

  // The order in which the kernel writes the rows: the caller's row at each position. Empty where
  // that is the caller's order. Each call computes it again and synchronises `stream`.
  virtual DeviceBuffer<std::int32_t> row_order(StreamRef /*stream*/) const { return {}; }

  // The same kernel for `permuted` = P A P^T, whose rows are in row_order(), so that it writes y
  // from the first element to the last. Null where row_order() is empty. Synchronises `stream`. The
  // result keeps row_ptr of `permuted` and copies its columns and values.
  virtual std::unique_ptr<CudaKernel> in_row_order(const DeviceCsr<Value>& /*permuted*/,
                                                   StreamRef /*stream*/) const {
    return nullptr;
  }
};

}  // namespace trireme
