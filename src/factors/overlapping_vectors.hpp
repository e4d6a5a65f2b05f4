// SPDX-License-Identifier: BSD-3-Clause
// Vectors of an OverlappingBlock: r of all of its rows, some of which other ranks send, and z, of
// which a rank keeps its own rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/array.hpp"
#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "distributed/gpu_exchange.hpp"
#include "distributed/halo.hpp"
#include "factors/overlapping_block.hpp"

namespace trireme::factors {

// On the host. `block` must outlive the object.
class HostOverlap {
 public:
  HostOverlap(MPI_Comm comm, const OverlappingBlock& block);  // collective

  // Calls solve(r of the block, z of the block). Collective.
  template <class Solve>
  void apply(std::span<const double> r, std::span<double> z, const Solve& solve) {
    bring(r);
    solve(std::span<const double>(r_), std::span<double>(z_));
    keep(z);
  }

 private:
  void bring(std::span<const double> r);
  void keep(std::span<double> z) const;

  const OverlappingBlock* block_;
  Array<double> packed_, ghosts_, r_, z_;
  HaloExchange exchange_;
};

// On GPUs, in streams.
class DeviceOverlap {
 public:
  // Throws Error{resource} on every rank. Collective.
  DeviceOverlap(MPI_Comm comm, const OverlappingBlock& block, const ExchangeRequest& request);

  // Queues solve(r of the block, z of the block) between the copies.
  template <class Solve>
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream,
               const Solve& solve) {
    bring(r, stream);
    solve(r_.view(), z_.span());
    keep(z, stream);
  }
  // As check_device() of a GivenPreconditioner.
  void check() const { exchange_->check(); }

 private:
  void bring(DeviceSpan<const double> r, StreamRef stream);
  void keep(DeviceSpan<double> z, StreamRef stream) const;

  std::int64_t before_, own_;
  HaloPlan halo_;
  Stream stream_;
  DeviceBuffer<double> r_, z_;
  std::unique_ptr<GpuExchange> exchange_;
};

}  // namespace trireme::factors
