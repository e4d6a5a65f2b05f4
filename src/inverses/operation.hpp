// SPDX-License-Identifier: BSD-3-Clause
// Approximate inverses as the operation of a loop (solvers/preconditioners/given.hpp):
//
//   fsai   z = G^T (G r)   two products by kernels of their own
//   spai   z = M r         one product
//
//   place          build() makes             the products run
//   host           G and G^T, or M           on the host
//   one GPU        G and G^T, there          there; what the GPU cannot make, M among it, the host
//                                            makes
//   several GPUs   either, on the host       on the GPUs
//
// The values are rounded to FP32 where all of them are in the range of normal FP32 numbers, which
// halves what a product moves: G and G^T have the same values, so that the operation stays
// symmetric and positive definite. Sums are in FP64.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/array.hpp"
#include "device/buffer.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/gpu_exchange.hpp"
#include "distributed/operator.hpp"
#include "inverses/cuda/gpu_factors.hpp"
#include "inverses/facts.hpp"
#include "inverses/fsai.hpp"
#include "inverses/spai.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme::inverses {

class InverseOperation : public solvers::GivenPreconditioner {
 public:
  // Where the products will be asked for: on GPUs, whose ranks exchange as `exchange` says, or on
  // the host (none). The next build() is for that place.
  void set_place(const std::optional<ExchangeRequest>& exchange);

  // Takes the present values of the matrix: the patterns stay. Throws what build() throws, and
  // Error{internal} where nothing is set up. Collective.
  void renew();
  bool is_set_up() const { return rows_ || on_gpu_; }
  void forget();
  std::optional<InverseFacts> facts() const;

  // Throws Error{internal} where nothing is set up. Collective. Where the operation was built for
  // the other place, the first call builds operators for this one.
  void apply(std::span<const double> r, std::span<double> z) override;
  // z = M^-T r. The first call may allocate.
  void apply_transposed(std::span<const double> r, std::span<double> z);
  bool prepare_on_device() override;
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override;
  std::uint64_t device_version() const override {
    return device_version_ + (on_gpu_ ? on_gpu_->version() : 0);
  }
  void check_device() const override;

 protected:
  explicit InverseOperation(bool symmetric) : symmetric_(symmetric) {}
  // Makes the inverse of the present values of `matrix`, which it shares. An error leaves none:
  // then is_set_up() is false. Collective.
  void build(std::shared_ptr<DistributedMatrix> matrix);

 private:
  // The operators of G and G^T, or of M and none, in one place.
  struct Products {
    std::shared_ptr<Operator> rows, transposed;
  };
  // G or M, and its numbers for other values of the matrix.
  virtual RowSlab make_rows(const DistributedMatrix& matrix) const = 0;
  virtual void renew_rows(const DistributedMatrix& matrix, RowSlab& rows) const = 0;
  // Null where the GPU of this process, which has the whole matrix, cannot make it.
  virtual std::unique_ptr<GpuFactors> make_on_gpu(DistributedMatrix& /*matrix*/) const {
    return nullptr;
  }

  void make_on_host();
  void renew_on_host();
  void drop_host();
  void take_values(RowSlab&& rows);
  void make_products(Device device);
  void require_set_up() const;

  const bool symmetric_;                     // z = G^T (G r)
  std::optional<ExchangeRequest> exchange_;  // none: the host
  std::shared_ptr<DistributedMatrix> matrix_;
  std::unique_ptr<GpuFactors> on_gpu_;  // null: the factors are on the host
  // G and G^T, or M and null; null: no product was asked for there.
  std::shared_ptr<DistributedMatrix> rows_, transposed_;
  Precision precision_ = Precision::full;
  Products on_host_, on_device_;
  std::shared_ptr<Operator> transposed_on_host_;  // of M^T, once it was asked for
  Array<double> between_;                         // G r
  DeviceBuffer<double> device_between_;
  std::uint64_t device_version_ = 0;  // of everything but on_gpu_
  double seconds_ = 0;
};

class FsaiOperation : public InverseOperation {
 public:
  FsaiOperation() : InverseOperation(true) {}
  // Throws what ScaledRows, make_fsai() and operators throw, on every rank. Collective.
  void build(std::shared_ptr<DistributedMatrix> matrix, const FsaiOptions& options);
  // Whether renew() suffices for these options on a matrix of unchanged pattern.
  bool is_built_with(const FsaiOptions& options) const {
    return is_set_up() && options == options_;
  }

 private:
  RowSlab make_rows(const DistributedMatrix& matrix) const override;
  void renew_rows(const DistributedMatrix& matrix, RowSlab& rows) const override;
  std::unique_ptr<GpuFactors> make_on_gpu(DistributedMatrix& matrix) const override;

  FsaiOptions options_;
};

class SpaiOperation : public InverseOperation {
 public:
  SpaiOperation() : InverseOperation(false) {}
  // Throws what make_spai() and operators throw, on every rank. Collective.
  void build(std::shared_ptr<DistributedMatrix> matrix, const SpaiOptions& options);
  bool is_built_with(const SpaiOptions& options) const {
    return is_set_up() && options == options_;
  }

 private:
  RowSlab make_rows(const DistributedMatrix& matrix) const override;
  void renew_rows(const DistributedMatrix& matrix, RowSlab& rows) const override;

  SpaiOptions options_;
};

}  // namespace trireme::inverses
