// SPDX-License-Identifier: BSD-3-Clause
// How the GPUs of the ranks reach each other: halo entries of a product, and sums of a few scalars.
//
//   peer    kernels write into the other GPUs' memory (NVLink or PCIe, one node): a loop that runs
//           on the device needs nothing else. Every process must see every GPU
//   nccl    NCCL sends, receives and all-reduces, queued like kernels; any number of nodes
//   mpi     packed into pinned memory and moved by MPI; ranks may share a GPU
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

// Every rank makes the same calls in the same order; one product at a time.
class GpuExchange {
 public:
  virtual ~GpuExchange() = default;
  GpuExchange() = default;
  GpuExchange(const GpuExchange&) = delete;
  GpuExchange& operator=(const GpuExchange&) = delete;

  virtual std::string_view name() const = 0;  // peer | nccl | mpi
  virtual Recording recording() const = 0;
  // Entries of x on their way to the ranks that need them. Work queued in `stream` between send()
  // and receive() overlaps with it.
  virtual void send(DeviceSpan<const double> x, StreamRef stream) = 0;
  // The ghosts, for later work in `stream`, until the next send().
  virtual DeviceSpan<const double> receive(StreamRef stream) = 0;
  // Adds up over the ranks, the same bits on each. At most PeerSums::max_values numbers.
  virtual void sum(DeviceSpan<double> values, StreamRef stream) = 0;
  // In device memory, for kernels that sum by themselves instead; null where they cannot.
  virtual PeerSums* peer_sums() { return nullptr; }
  // Throws Error{resource} where this rank has waited for another one for too long: what send() and
  // sum() have led to since then is NaN. Asks nothing of the device and of the other ranks.
  virtual void check() const {}

  std::string why_no_peers;  // see exchange_choice.hpp
};

// Seconds for which a kernel waits for another GPU, unless the request says otherwise.
inline constexpr double kPeerTimeout = 60;

// What the user asks of the exchange: the PETSc options -trireme_exchange and
// -trireme_peer_timeout.
struct ExchangeRequest {
  std::string way;                     // peer | nccl | mpi; empty: the best that works
  double peer_timeout = kPeerTimeout;  // seconds; 0: wait for ever
};

// The requested way, or the best that works on every rank, in the order above. A requested way that
// does not work is Error{resource}. GPUs of different architectures do not take peer: theirs is one
// loop of decisions that each makes for itself from the same bits. `halo` outlives the result.
// Collective; null for one rank.
std::unique_ptr<GpuExchange> make_gpu_exchange(MPI_Comm comm, const HaloPlan& halo,
                                               const ExchangeRequest& request = {});

// Each throws Error{resource} on every rank where it cannot work. Collective.
std::unique_ptr<GpuExchange> make_peer_exchange(MPI_Comm comm, const HaloPlan& halo,
                                                double timeout_seconds = kPeerTimeout);
std::unique_ptr<GpuExchange> make_nccl_exchange(MPI_Comm comm, const HaloPlan& halo);
std::unique_ptr<GpuExchange> make_mpi_exchange(MPI_Comm comm, const HaloPlan& halo);

}  // namespace trireme
