// SPDX-License-Identifier: BSD-3-Clause
// How GPUs of several ranks exchange the halo entries of a product and add up a few scalars.
//
//   peer    Kernels write into the memory of the other GPUs (NVLink or PCIe, one node), so that a
//           loop on the device needs no host. Every process must see every GPU.
//   nccl    NCCL sends, receives and all-reduces, which are queued like kernels. Any number of
//           nodes.
//   mpi     Entries are packed into pinned memory, and MPI moves them. Ranks may share a GPU.
//   peer+nccl, peer+mpi   Peer memory within a node, NCCL or MPI between nodes
//                         (mixed_exchange.hpp).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/peer_sums.hpp"
#include "device/recording.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "distributed/halo.hpp"

namespace trireme {

struct PeerHalo;

// Every rank makes the same calls in the same order, for one product at a time.
class GpuExchange {
 public:
  virtual ~GpuExchange() = default;
  GpuExchange() = default;
  GpuExchange(const GpuExchange&) = delete;
  GpuExchange& operator=(const GpuExchange&) = delete;

  virtual std::string_view name() const = 0;  // as above
  virtual Recording recording() const = 0;
  // Sends the entries of x that other ranks need. Work that is queued in `stream` between send()
  // and receive() overlaps with the transfer.
  virtual void send(DeviceSpan<const double> x, StreamRef stream) = 0;
  // The same for a vector in FP32. The ghosts are FP64 numbers.
  virtual void send(DeviceSpan<const float> x, StreamRef stream) = 0;
  // The ghost vector, complete for later work in `stream` and valid until the next send().
  virtual DeviceSpan<const double> receive(StreamRef stream) = 0;
  // Replaces each number by its sum over the ranks, which has the same bits on each rank.
  virtual void sum(DeviceSpan<double> values, StreamRef stream) = 0;
  // In device memory, for kernels that add up over the ranks by themselves; null where they cannot.
  virtual PeerSums* peer_sums() { return nullptr; }
  // For kernels that send or receive the entries by themselves (peer_entries.cuh), in place of
  // send() or receive(); null where they cannot, or where this rank exchanges nothing.
  virtual const PeerHalo* peer_halo() const { return nullptr; }
  // Throws Error{resource} where the GPU of this rank has waited for another one beyond the
  // timeout. The results of send() and sum() are NaN from then on. The call waits for neither the
  // device nor other ranks.
  virtual void check() const {}

  std::string why;  // this one was chosen, for the report; can be empty
};

// Seconds for which a kernel waits for another GPU, unless the request says otherwise.
inline constexpr double kPeerTimeout = 60;

// What the user asks for by the PETSc options -trireme_exchange, -trireme_peer_timeout and
// -trireme_ranks_per_node.
struct ExchangeRequest {
  std::string way{};                   // a name as above, or mixed; empty: the best that works
  double peer_timeout = kPeerTimeout;  // seconds; 0: no limit
  int ranks_per_node = 0;  // cuts nodes as cut_nodes() of exchange_choice.hpp; 0: does not
  // An exchange of the same ranks in the same way, or null. The new one shares its time limit, so
  // that a wait of either that exceeds the limit ends all later ones, and its communicator of NCCL.
  std::shared_ptr<const GpuExchange> beside{};
};

// The requested exchange, or the best one that works on every rank: peer on one node. On several
// nodes, nccl where it works, else mpi, alone or beside peer memory, whichever exchanges the halo
// faster in a short trial. Null on one rank. Throws Error{resource} where the requested one does
// not work. GPUs of different architectures do not use peer: there each GPU decides for itself when
// the loop ends, which needs the same bits on all. `halo` must outlive the result. Collective.
std::unique_ptr<GpuExchange> make_gpu_exchange(MPI_Comm comm, const HaloPlan& halo,
                                               const ExchangeRequest& request = {});

// Each throws Error{resource} on every rank where it cannot work. job_ranks[r] is what a message
// calls rank r of `comm`; empty: r. Collective.
std::unique_ptr<GpuExchange> make_peer_exchange(MPI_Comm comm, const HaloPlan& halo,
                                                double timeout_seconds = kPeerTimeout,
                                                const GpuExchange* beside = nullptr,
                                                std::span<const int> job_ranks = {});
std::unique_ptr<GpuExchange> make_nccl_exchange(MPI_Comm comm, const HaloPlan& halo,
                                                const GpuExchange* beside = nullptr);
std::unique_ptr<GpuExchange> make_mpi_exchange(MPI_Comm comm, const HaloPlan& halo);

}  // namespace trireme
