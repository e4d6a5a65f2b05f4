// SPDX-License-Identifier: BSD-3-Clause
// The factorised sparse approximate inverse as the operation of a loop
// (solvers/preconditioners/given.hpp): z = G^T (G r), two products by kernels of their own.
//
//   place          build() makes             the products run
//   host           G and G^T                 on the host
//   one GPU        GpuFactors, there         there; where the GPU cannot make them, the host does
//   several GPUs   G and G^T, on the host    on the GPUs
//
// Its values are rounded to FP32 where all of them are in the range of
// normal FP32 numbers, which halves what a product moves: both factors have the same values, so
// that the operation stays symmetric and positive definite. Sums are in FP64.
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
#include "solvers/preconditioners/given.hpp"

namespace trireme::inverses {

class FsaiOperation : public solvers::GivenPreconditioner {
 public:
  // Where the products will be asked for: on GPUs, whose ranks exchange as `exchange` says, or on
  // the host (none). The next build() is for that place.
  void set_place(const std::optional<ExchangeRequest>& exchange);

  // Makes G of the present values of `matrix`, which it shares. An error leaves none: then
  // is_set_up() is false. Throws what ScaledRows, make_fsai() and operators throw, on every rank.
  // Collective.
  void build(std::shared_ptr<DistributedMatrix> matrix, const FsaiOptions& options);
  // Takes the present values of the matrix: the patterns stay. Throws what build() throws, and
  // Error{internal} where nothing is set up. Collective.
  void renew();
  // Whether renew() suffices for these options on a matrix of unchanged pattern.
  bool is_built_with(const FsaiOptions& options) const {
    return is_set_up() && options == options_;
  }
  bool is_set_up() const { return lower_ || on_gpu_; }
  void forget();
  std::optional<FsaiFacts> facts() const;

  // Throws Error{internal} where nothing is set up. Collective. Where the operation was built for
  // the other place, the first call builds operators for this one.
  void apply(std::span<const double> r, std::span<double> z) override;
  bool prepare_on_device() override;
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override;
  std::uint64_t device_version() const override {
    return device_version_ + (on_gpu_ ? on_gpu_->version() : 0);
  }
  void check_device() const override;

 private:
  // The operators of G and G^T in one place.
  struct Products {
    std::shared_ptr<Operator> lower, upper;
  };
  void make_on_gpu();
  void make_on_host();
  void renew_on_host();
  void drop_host();
  void take_values(RowSlab&& lower);
  void make_products(Device device);
  void require_set_up() const;

  std::optional<ExchangeRequest> exchange_;  // none: the host
  FsaiOptions options_;
  std::shared_ptr<DistributedMatrix> matrix_;
  std::unique_ptr<GpuFactors> on_gpu_;  // null: the factors are on the host
  std::shared_ptr<DistributedMatrix> lower_,
      upper_;  // G, G^T; null: no product was asked for there
  Precision precision_ = Precision::full;
  Products on_host_, on_device_;
  Array<double> between_;  // G r
  DeviceBuffer<double> device_between_;
  std::uint64_t device_version_ = 0;  // of everything but on_gpu_
  double seconds_ = 0;
};

}  // namespace trireme::inverses
