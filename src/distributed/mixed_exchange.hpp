// SPDX-License-Identifier: BSD-3-Clause
// Two exchanges in one: peer memory between the ranks of a group, such as the GPUs of a node, and
// NCCL or MPI between the groups.
//
// The halo plan is split by groups. Entries for other groups travel first, because they take
// longer. One kernel then waits for the entries of the own group and lays the ghosts of both
// exchanges in the order of the whole plan. Sums are those of the exchange between the groups, over
// all ranks: NCCL itself adds within a node first, and its result has the same bits on every rank.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "distributed/exchange_choice.hpp"
#include "distributed/gpu_exchange.hpp"
#include "distributed/split_halo.hpp"
#include "parallel/communicator.hpp"

namespace trireme {

class MixedExchange final : public GpuExchange {
 public:
  // groups[r] is the group of rank r, and at least 0. `between` is nccl or mpi. Throws
  // Error{resource} on every rank where an exchange cannot work on one. Collective.
  MixedExchange(MPI_Comm comm, const HaloPlan& halo, std::span<const int> groups,
                ExchangeWay between, const ExchangeRequest& request = {});

  std::string_view name() const override;
  Recording recording() const override { return far_->recording(); }
  void send(DeviceSpan<const double> x, StreamRef stream) override { send_both(x, stream); }
  void send(DeviceSpan<const float> x, StreamRef stream) override { send_both(x, stream); }
  DeviceSpan<const double> receive(StreamRef stream) override;
  void sum(DeviceSpan<double> values, StreamRef stream) override { far_->sum(values, stream); }
  // Not null where this rank has neighbours, and all of them in its group.
  const PeerHalo* peer_halo() const override;
  void check() const override;

  const GpuExchange& between_groups() const { return *far_; }

 private:
  template <class Number>
  void send_both(DeviceSpan<const Number> x, StreamRef stream) {
    far_->send(x, stream);
    if (near_) near_->send(x, stream);
  }

  std::shared_ptr<const Communicator> group_;  // the ranks of the group of this rank
  SplitHalo parts_;
  std::unique_ptr<GpuExchange> far_;
  std::unique_ptr<GpuExchange> near_;  // null where the group has one rank
  DeviceBuffer<std::int32_t> sources_;
  DeviceBuffer<double> ghosts_;
};

}  // namespace trireme
