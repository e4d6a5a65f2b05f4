// SPDX-License-Identifier: BSD-3-Clause
// How GPUs of several ranks exchange the halo entries of a product and add up a few scalars.
//
//   peer    Kernels write into the memory of the other GPUs (NVLink or PCIe, one node), so that a
//           loop on the device needs no host. Every process must see every GPU.
//   nccl    NCCL sends, receives and all-reduces, which are queued like kernels. Any number of
//           nodes.
//   mpi     Entries are packed into pinned memory, and MPI moves them. Ranks may share a GPU.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
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

  virtual std::string_view name() const = 0;  // peer | nccl | mpi
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
  // For kernels that send or receive the entries by themselves (peer_entries.cuh), in place of send() or
  // receive(); null where they cannot, or where this rank exchanges nothing.
  virtual const PeerHalo* peer_halo() const { return nullptr; }
  // Throws Error{resource} where the GPU of this rank has waited for another one beyond the
  // timeout. The results of send() and sum() are NaN from then on. The call waits for neither the
  // device nor other ranks.
  virtual void check() const {}

  std::string why_no_peers;  // why_no_peers() of exchange_choice.hpp, for the report
};

// Seconds for which a kernel waits for another GPU, unless the request says otherwise.
inline constexpr double kPeerTimeout = 60;

// What the user asks for by the PETSc options -trireme_exchange and -trireme_peer_timeout.
struct ExchangeRequest {
  std::string way;                     // peer | nccl | mpi; empty: the best that works
  double peer_timeout = kPeerTimeout;  // seconds; 0: no limit
  // An exchange of the same ranks in the same way, or null. The new one shares its time limit, so that a
  // wait of either that exceeds the limit ends all later ones, and its communicator of NCCL.
  std::shared_ptr<const GpuExchange> beside{};
};

// The requested exchange, or the first of the list above that works on every rank; null on one
// rank. Throws Error{resource} where the requested one does not work. GPUs of different
// architectures do not use peer: there each GPU decides for itself when the loop ends, which needs
// the same bits on all. `halo` must outlive the result. Collective.
std::unique_ptr<GpuExchange> make_gpu_exchange(MPI_Comm comm, const HaloPlan& halo,
                                               const ExchangeRequest& request = {});

// Each throws Error{resource} on every rank where it cannot work. Collective.
std::unique_ptr<GpuExchange> make_peer_exchange(MPI_Comm comm, const HaloPlan& halo,
                                                double timeout_seconds = kPeerTimeout,
                                                const GpuExchange* beside = nullptr);
std::unique_ptr<GpuExchange> make_nccl_exchange(MPI_Comm comm, const HaloPlan& halo,
                                                const GpuExchange* beside = nullptr);
std::unique_ptr<GpuExchange> make_mpi_exchange(MPI_Comm comm, const HaloPlan& halo);

}  // namespace trireme
