// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factors as the operation of a loop (solvers/preconditioners/given.hpp):
// z = (I + U)^-1 D^-1 (I + L)^-1 r.
//
//   place   build() makes              the sweeps run
//   host    FactorNumbers, there       on the host
//   GPUs    DeviceFactors, there       there
//
// On several ranks each rank factors its own rows and columns: block Jacobi, or, with those of
// other ranks around them, restricted additive Schwarz (overlapping_block.hpp). L and U are rounded
// to FP32 where all of their numbers are in the range of normal FP32 numbers, which saves a third
// of what a sweep moves. D and sums are in FP64.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "distributed/distributed_matrix.hpp"
#include "distributed/gpu_exchange.hpp"
#include "factors/cuda/device_factors.hpp"
#include "factors/host_sweeps.hpp"
#include "factors/numbers.hpp"
#include "factors/options.hpp"
#include "factors/overlapping_block.hpp"
#include "factors/overlapping_vectors.hpp"
#include "factors/pattern.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme::factors {

class IluOperation : public solvers::GivenPreconditioner {
 public:
  // Where the sweeps will be asked for: on GPUs, whose ranks exchange as `exchange` says, or on the
  // host (none). The next build() is for that place.
  void set_place(const std::optional<ExchangeRequest>& exchange) { exchange_ = exchange; }

  // Makes factors of the present values of `matrix`, which it shares. An error leaves none: then
  // is_set_up() is false. Throws Error{resource} on every rank where the memory does not suffice.
  // Factors that overflow make z NaN. Collective.
  void build(std::shared_ptr<DistributedMatrix> matrix, const IluOptions& options);
  // Takes the present values of the matrix: the patterns stay. Throws what build() throws, and
  // Error{internal} where nothing is set up. Collective.
  void renew();
  // Whether renew() suffices for these options on a matrix of unchanged pattern.
  bool is_built_with(const IluOptions& options) const {
    return is_set_up() && options.definite == definite_ &&
           overlap_for(options, *matrix_) == facts_.overlap &&
           choice_for(options, exchange_.has_value()) == facts_.choice;
  }
  bool is_set_up() const { return matrix_ != nullptr; }
  void forget();
  std::optional<IluFacts> facts() const;

  // Throws Error{internal} where nothing is set up. Where the operation was built for the other
  // place, the first call makes factors for this one.
  void apply(std::span<const double> r, std::span<double> z) override;
  bool prepare_on_device() override;
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override;
  std::uint64_t device_version() const override {
    return device_version_ + (on_gpu_ ? on_gpu_->version() : 0);
  }
  void check_device() const override;

 private:
  using Sweeps = std::variant<std::monostate, HostSweeps<float>, HostSweeps<double>>;

  // What a rank needs where it factors rows of others, too.
  struct Overlap {
    Overlap(const DistributedMatrix& matrix, std::int32_t layers) : block(matrix, layers) {}

    OverlappingBlock block;
    std::optional<HostOverlap> on_host;
    std::optional<DeviceOverlap> on_gpu;
    std::optional<Stream> stream;
    DeviceCsrMatrix<double> on_device;  // the block
  };

  static std::int32_t overlap_for(const IluOptions& options, const DistributedMatrix& matrix);
  CsrView<double> block() const;
  DeviceCsr<double> block_on_device();
  void make_numbers_on_host();
  void make_on_gpu();
  void agree_on_facts();
  void require_set_up() const;

  std::optional<ExchangeRequest> exchange_;  // none: the host
  bool definite_ = false;
  std::shared_ptr<DistributedMatrix> matrix_;  // null: nothing is set up
  FactorPattern pattern_;
  Sweeps on_host_;
  std::unique_ptr<DeviceFactors> on_gpu_;
  std::optional<Overlap> overlap_;
  std::uint64_t device_version_ = 0;  // of everything but on_gpu_
  IluFacts facts_;
};

}  // namespace trireme::factors
