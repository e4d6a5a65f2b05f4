// SPDX-License-Identifier: BSD-3-Clause
// What the host's and the GPU's distributed operators have in common: all that a MatShell needs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "distributed/distributed_matrix.hpp"
#include "distributed/product_times.hpp"
#include "distributed/transposed_product.hpp"
#include "kernels/registry.hpp"

namespace trireme {

class Operator {
 public:
  // Called around the parts of a product by whoever logs; see log_events.hpp.
  struct ProductObserver {
    virtual ~ProductObserver() = default;
    enum class Part { halo, local, ghost };
    virtual void begin(Part part) = 0;
    virtual void end(Part part) = 0;
  };

  Operator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel)
      : matrix_(std::move(matrix)), kernel_(kernel) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  const DistributedMatrix& matrix() const { return *matrix_; }
  const std::string& kernel() const { return kernel_; }
  double build_seconds() const { return build_seconds_; }
  double upload_seconds() const { return upload_seconds_; }  // of the CSR to the device

  // x and y: this rank's part in host memory, local_rows() long, not overlapping. Collective,
  // timed.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;
  // Mixed precision, where rounding to FP32 changes the matrix: multiply() is by the rounded one,
  // and a solver must correct its residuals by the product of the matrix itself.
  bool inexact() const { return inexact_; }
  // and what that lacks in the sums of the local rows, A 1 - A32 1, on the host.
  std::span<const float> row_defect() const { return row_defect_; }
  // y = A x in FP64 whatever the precision; not among the times. Collective.
  virtual void multiply_exactly(std::span<const double> x, std::span<double> y) = 0;
  // y = A^T x by the plain CSR on the host, whatever the kernel. Collective.
  void multiply_transpose(std::span<const double> x, std::span<double> y);

  // New values in the order of the slab that the matrix was distributed from.
  void update_values(std::span<const double> values);
  // The matrix has new values already (another operator's update_values): hand them to the kernels.
  virtual void refresh_values() = 0;

  // Both blocks together: bytes added, padding over all stored entries, steps of local then ghost.
  virtual KernelStatistics statistics() const = 0;
  // Of the products so far; on a GPU this reads the events, and so waits for the last product.
  virtual ProductTimes& times() { return times_; }
  void observe(ProductObserver* observer) { observer_ = observer; }  // null: nobody; not owned

 protected:
  template <class Work>
  void observed(ProductObserver::Part part, Work&& work) {
    if (observer_) observer_->begin(part);
    std::forward<Work>(work)();
    if (observer_) observer_->end(part);
  }
  KernelStatistics combined(KernelStatistics local, const KernelStatistics& ghost) const;

  std::shared_ptr<DistributedMatrix> matrix_;
  std::string kernel_;
  ProductTimes times_;
  double build_seconds_ = 0, upload_seconds_ = 0;
  bool mixed_ = false, inexact_ = false;
  Array<float> row_defect_;

 private:
  ProductObserver* observer_ = nullptr;
  std::unique_ptr<TransposedProduct> transposed_;  // made at its first use
};

}  // namespace trireme
