// SPDX-License-Identifier: BSD-3-Clause
// GPUs of one node write into each other's memory; this file lays out who writes where.
#include <mpi.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "distributed/gpu_exchange.hpp"
#include "distributed/peer_halo.hpp"
#include "distributed/peer_region.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// The entries that travel to and from another rank; both counts are at least 1.
struct Neighbour {
  HaloPlan::Neighbour out{0, 0, 0}, in{0, 0, 0};
};

// The time limit of waits, with the sums that have it too.
struct Waits {
  PinnedBuffer<std::int32_t> missed;
  DeviceBuffer<PeerSums> peers;
};

class PeerExchange final : public GpuExchange {
 public:
  PeerExchange(MPI_Comm comm, const HaloPlan& halo, double timeout_seconds,
               const PeerExchange* beside, std::span<const int> job_ranks)
      : comm_(comm),
        timeout_seconds_(timeout_seconds),
        job_ranks_(job_ranks.begin(), job_ranks.end()),
        waits_of_halo_(beside ? beside->waits_of_halo_ : waits_) {
    const int ranks = size_of(comm);
    collectively(comm, [&] {
      if (ranks > PeerSums::max_ranks)
        fail(ExitCode::resource, "at most {} GPUs write into each other's memory, not {}",
             PeerSums::max_ranks, ranks);
    });
    for (const auto& to : halo.sends) neighbours_[to.rank].out = to;
    for (const auto& from : halo.receives) neighbours_[from.rank].in = from;
    halo_.ghosts = halo_.incoming = halo.ghosts;
    std::vector<std::int32_t> rows;
    for (auto& [rank, neighbour] : neighbours_) {
      if (neighbour.in.count == 0) neighbour.in = {rank, halo_.incoming++, 1};
      halo_.rank[halo_.neighbours] = rank;
      halo_.first_in[halo_.neighbours] = neighbour.in.offset;
      halo_.end_in[halo_.neighbours] = neighbour.in.offset + neighbour.in.count;
      const std::int32_t* first = halo.send_rows.data() + neighbour.out.offset;
      rows.insert(rows.end(), first, first + neighbour.out.count);
      if (neighbour.out.count == 0) rows.push_back(-1);
      halo_.first[++halo_.neighbours] = static_cast<std::int32_t>(rows.size());
    }
    share_memory(rows);
    tell_neighbours();
    MPI_Barrier(comm);  // the memory of every rank is zero and mapped
  }

  std::string_view name() const override { return "peer"; }
  Recording recording() const override { return Recording::loop; }
  PeerSums* peer_sums() override { return waits_->peers.data(); }
  const PeerHalo* peer_halo() const override { return halo_.neighbours > 0 ? &halo_ : nullptr; }
  void send(DeviceSpan<const double> x, StreamRef stream) override {
    check();
    peer_send(halo_, x, stream);
  }
  void send(DeviceSpan<const float> x, StreamRef stream) override {
    check();
    peer_send(halo_, x, stream);
  }
  DeviceSpan<const double> receive(StreamRef stream) override {
    peer_receive(halo_, ghosts_.span(), stream);
    return ghosts_.view();
  }
  void sum(DeviceSpan<double> values, StreamRef stream) override {
    check();
    constexpr std::size_t kAtOnce = PeerSums::max_values;
    for (std::size_t first = 0; first < values.size(); first += kAtOnce)
      peer_sum(waits_->peers.data(),
               values.subspan(first, std::min(kAtOnce, values.size() - first)), stream);
  }

  void check() const override {
    for (const Waits* waits : {waits_.get(), waits_of_halo_.get()}) {
      const std::int32_t missed = *static_cast<const volatile std::int32_t*>(waits->missed.data());
      if (missed == 0) continue;
      const int lost = missed - 1;
      fail(ExitCode::resource,
           "the GPU of this rank has waited {} s for that of rank {}, which is lost or stands "
           "still; see what happened to that rank (-trireme_peer_timeout sets the seconds)",
           timeout_seconds_, job_ranks_.empty() ? lost : job_ranks_[lost]);
    }
  }

 private:
  // The shared memory of a rank is its mailbox for sums, followed by its inbox for halo entries.
  void share_memory(const std::vector<std::int32_t>& rows) {
    const std::size_t inbox_words = 4 * static_cast<std::size_t>(halo_.incoming);
    region_.emplace(comm_, (PeerSums::mailbox_words + inbox_words) * sizeof(std::uint64_t));
    const int ranks = size_of(comm_), rank = rank_of(comm_);
    PeerSums peers;
    peers.rank = rank;
    peers.ranks = ranks;
    for (int other = 0; other < ranks; ++other) {
      peers.mailbox[other] = static_cast<std::uint64_t*>(region_->of(other));
      inboxes_.push_back(peers.mailbox[other] + PeerSums::mailbox_words);
    }
    collectively(comm_, [&] {
      waits_->missed = PinnedBuffer<std::int32_t>(1);
      *waits_->missed.data() = 0;
      peers.wait.patience_ns = static_cast<std::uint64_t>(1e9 * timeout_seconds_);
      peers.wait.told = waits_->missed.device_span().data();
      waits_->peers = to_device(std::span<const PeerSums>(&peers, 1), stream_);
      rows_ = to_device(std::span<const std::int32_t>(rows), stream_);
      ghosts_ = DeviceBuffer<double>(halo_.ghosts, stream_);
      epoch_ = DeviceBuffer<std::uint32_t>(1, stream_);
      tickets_ = DeviceBuffer<unsigned>(1, stream_);
      fill_zero(epoch_.span(), stream_);
      fill_zero(tickets_.span(), stream_);
      stream_.synchronize();
    });
    halo_.rows = rows_.data();
    halo_.inbox = inboxes_[rank];
    halo_.epoch = epoch_.data();
    halo_.tickets = tickets_.data();
    halo_.wait = &waits_of_halo_->peers.data()->wait;
  }

  // Each rank tells each neighbour where in its inbox the entries of that neighbour go.
  void tell_neighbours() {
    using Place = std::array<std::int32_t, 2>;  // first entry, and entries per parity
    std::vector<Place> here(inboxes_.size()), there(inboxes_.size());
    for (const auto& [rank, neighbour] : neighbours_)
      here[rank] = {neighbour.in.offset, halo_.incoming};
    MPI_Alltoall(here.data(), 2, MPI_INT32_T, there.data(), 2, MPI_INT32_T, comm_);
    int k = 0;
    for (const auto& [rank, neighbour] : neighbours_) {
      halo_.inbox_there[k] = inboxes_[rank] + 2 * std::int64_t{there[rank][0]};
      halo_.words_there[k++] = 2 * std::int64_t{there[rank][1]};
    }
  }

  MPI_Comm comm_;
  double timeout_seconds_;
  std::vector<int> job_ranks_;  // of the ranks of comm_; empty: the same numbers
  std::shared_ptr<Waits> waits_ = std::make_shared<Waits>();
  std::shared_ptr<Waits> waits_of_halo_;  // those of another exchange where the two share them
  std::map<int, Neighbour> neighbours_;
  Stream stream_;
  std::optional<PeerRegion<>> region_;
  std::vector<std::uint64_t*> inboxes_;  // of each rank
  DeviceBuffer<std::int32_t> rows_;
  DeviceBuffer<double> ghosts_;
  DeviceBuffer<std::uint32_t> epoch_;
  DeviceBuffer<unsigned> tickets_;
  PeerHalo halo_;
};

}  // namespace

std::unique_ptr<GpuExchange> make_peer_exchange(MPI_Comm comm, const HaloPlan& halo,
                                                double timeout_seconds, const GpuExchange* beside,
                                                std::span<const int> job_ranks) {
  return std::make_unique<PeerExchange>(comm, halo, timeout_seconds,
                                        dynamic_cast<const PeerExchange*>(beside), job_ranks);
}

}  // namespace trireme
