// SPDX-License-Identifier: BSD-3-Clause
// Makes both exchanges, and brings their ghosts together.
#include "distributed/mixed_exchange.hpp"

#include "distributed/peer_halo.hpp"
#include "parallel/collective_parts.hpp"

namespace trireme {
namespace {

// The ranks of the group of `rank`, ascending.
std::vector<int> members_of_group(std::span<const int> groups, int rank) {
  std::vector<int> members;
  for (int other = 0; other < std::ssize(groups); ++other)
    if (groups[other] == groups[rank]) members.push_back(other);
  return members;
}

}  // namespace

MixedExchange::MixedExchange(MPI_Comm comm, const HaloPlan& halo, std::span<const int> groups,
                             ExchangeWay between, const ExchangeRequest& request) {
  const int rank = rank_of(comm);
  const auto* beside = dynamic_cast<const MixedExchange*>(request.beside.get());
  std::vector<int> members;
  collectively(comm, [&] {
    members = members_of_group(groups, rank);
    parts_ = split_halo(halo, groups, rank);
    const Stream stream;
    sources_ = to_device(std::span<const std::int32_t>(parts_.sources), stream);
    ghosts_ = DeviceBuffer<double>(halo.ghosts, stream);
    stream.synchronize();
  });
  far_ = between == ExchangeWay::nccl
             ? make_nccl_exchange(comm, parts_.far, beside ? beside->far_.get() : nullptr)
             : make_mpi_exchange(comm, parts_.far);
  group_ = beside ? beside->group_ : std::make_shared<const Communicator>(comm, groups[rank]);
  try {
    collectively_in_parts(comm, [&] {
      if (members.size() > 1)
        near_ = make_peer_exchange(*group_, parts_.near, request.peer_timeout,
                                   beside ? beside->near_.get() : nullptr, members);
    });
  } catch (const AgreedError&) {  // on every rank, so that what ends here may wait for other ranks
    near_.reset();
    far_.reset();
    group_.reset();
    throw;
  }
}

std::string_view MixedExchange::name() const {
  return name_of(far_->name() == "nccl" ? ExchangeWay::peer_nccl : ExchangeWay::peer_mpi);
}

DeviceSpan<const double> MixedExchange::receive(StreamRef stream) {
  const DeviceSpan<const double> far = far_->receive(stream);
  const PeerHalo* near = near_ ? near_->peer_halo() : nullptr;
  if (!near) return far;
  peer_receive_beside(*near, far, sources_.view(), ghosts_.span(), stream);
  return ghosts_.view();
}

const PeerHalo* MixedExchange::peer_halo() const {
  return near_ && parts_.far.empty() ? near_->peer_halo() : nullptr;
}

void MixedExchange::check() const {
  far_->check();
  if (near_) near_->check();
}

}  // namespace trireme
