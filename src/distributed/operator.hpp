// SPDX-License-Identifier: BSD-3-Clause
// A distributed matrix that multiplies by a named kernel, on the host or on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "distributed/distributed_matrix.hpp"
#include "distributed/ordered_matrix.hpp"
#include "distributed/product_times.hpp"
#include "distributed/transposed_product.hpp"
#include "kernels/registry.hpp"

namespace trireme {

// How an operator multiplies, beside its kernel.
struct OperatorOptions {
  Precision precision = Precision::full;
  // The kernel of the ghost block; empty: the operator's kernel. A GPU uses it for a ghost block
  // that is no boundary (boundary_product.hpp).
  std::string ghost_kernel{};
  // On the host, whether a product has the same bits for any number of threads, also by `albus`.
  bool same_bits_for_any_threads = false;
  // The operator's matrix in the order in which the kernels work; null: the caller's order.
  std::shared_ptr<OrderedMatrix> ordered{};
};

class Operator {
 public:
  // Is told when each part of a product begins and ends, for a log.
  struct ProductObserver {
    virtual ~ProductObserver() = default;
    enum class Part { halo, local, ghost };
    virtual void begin(Part part) = 0;
    virtual void end(Part part) = 0;
  };

  // Throws Error{internal} where `options` order another matrix.
  Operator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
           const OperatorOptions& options);
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  const DistributedMatrix& matrix() const { return *matrix_; }
  const std::shared_ptr<DistributedMatrix>& shared_matrix() const { return matrix_; }
  const std::string& kernel() const { return kernel_; }
  const std::string& ghost_kernel() const { return ghost_kernel_; }
  // The number of ranks whose ghost block the ghost kernel has refused. Plain CSR multiplies there.
  std::int64_t ghost_refusals() const { return ghost_refusals_; }
  // The order in which the kernels work; null: the caller's. The products below take and give
  // vectors in the caller's order whatever this order is.
  const OrderedMatrix* ordered() const { return ordered_.get(); }
  double build_seconds() const { return build_seconds_; }
  // Of the CSR to the GPU; 0 where another operator of the matrix has caused the upload.
  double upload_seconds() const { return upload_seconds_; }

  // y = A x, where x and y are this rank's local_rows() numbers in host memory and do not overlap.
  // The time is recorded. Collective.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;
  // Whether the precision is mixed and rounding to FP32 changes the matrix. multiply() is then the
  // product by the rounded matrix A32, and a solver must correct its residuals by
  // multiply_exactly().
  bool inexact() const { return inexact_; }
  // A 1 - A32 1 of the local rows, in host memory: what rounding takes from the sum of each row.
  // Empty unless inexact().
  std::span<const float> row_defect() const { return row_defect_; }
  // y = A x in FP64 whatever the precision is. The time is not recorded. Collective.
  virtual void multiply_exactly(std::span<const double> x, std::span<double> y) = 0;
  // y = A^T x by the plain CSR on the host, whatever the kernel is. Collective.
  void multiply_transpose(std::span<const double> x, std::span<double> y);

  // Replaces the values of the shared matrix, in the order of the slab that distribute() took, and
  // calls refresh_values(). Throws Error{usage} for a wrong number of values, and where this
  // operator holds FP32 values that were exact and the new ones are not. Collective.
  void update_values(std::span<const double> values);
  // Whether refresh_values() can take the present values of the shared matrix: false where this
  // operator holds FP32 values that were exact and the present ones are not. Collective.
  bool can_refresh() const;
  // Gives the present values of the shared matrix to the kernels. To be called where another
  // operator's update_values() has changed them.
  virtual void refresh_values() = 0;

  // Median microseconds of one product as a solver's loop does it (on a GPU with the dot product
  // where the kernel has it), of this rank, after one product that is not timed. The time is not
  // recorded. Collective.
  virtual double measure_product_us(int products) = 0;

  // Of both blocks: the sum of the bytes, the padding over all stored entries, and the build steps
  // of the local block before those of the ghost block.
  virtual KernelStatistics statistics() const = 0;
  // The times of the products so far. On a GPU the call waits for the last product.
  virtual ProductTimes& times() { return times_; }
  // The observer is not owned; null removes it.
  void observe(ProductObserver* observer) { observer_ = observer; }

 protected:
  using Part = ProductObserver::Part;
  template <class Work>
  void observed(Part part, Work&& work) {
    if (observer_) observer_->begin(part);
    std::forward<Work>(work)();
    if (observer_) observer_->end(part);
  }
  KernelStatistics combined(KernelStatistics local, const KernelStatistics& ghost) const;

  std::shared_ptr<DistributedMatrix> matrix_;
  std::shared_ptr<OrderedMatrix> ordered_;
  std::string kernel_, ghost_kernel_;
  ProductTimes times_;
  double build_seconds_ = 0, upload_seconds_ = 0;
  std::int64_t ghost_refusals_ = 0;
  bool mixed_ = false, inexact_ = false;
  Array<float> row_defect_;

 private:
  ProductObserver* observer_ = nullptr;
  std::unique_ptr<TransposedProduct> transposed_;  // made at the first use
};

}  // namespace trireme
