// SPDX-License-Identifier: BSD-3-Clause
// Copies of the values of ghost nodes in GPU memory: what node_exchange.hpp is on the host. The GPU
// packs, and the hosts carry, since a set-up exchanges little and seldom. This header compiles
// without CUDA.
//
// A rank may fail where others wait for it, such as for want of memory. Every function therefore
// begins with agree(), and a rank that has failed calls agree_on_error() in its place (together()
// of rank_set_up.cpp): then all of them throw.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "distributed/halo.hpp"
#include "kernels/device_csr.hpp"

namespace trireme::multigrid {

// Pinned memory through which the words of exchanges pass one after the other, so that one block
// serves all of them.
class GhostWords {
 public:
  // The least that is allocated: a block that stays pinned when it is freed, so that who allocates
  // and frees as many bytes ahead saves the first room() its time.
  static constexpr std::size_t kLeastBytes = std::size_t{8} << 20;
  // Those of one exchange, until the next call.
  struct Room {
    std::span<std::uint32_t> sent, received;
  };
  Room room(std::size_t sent, std::size_t received);

 private:
  PinnedBuffer<std::uint32_t> words_;
};

class DeviceGhosts {
 public:
  // Of a process that works alone: there are no ghosts, and no function communicates.
  DeviceGhosts() = default;
  // `halo` is a plan of nodes, of which this rank has `nodes`. It must outlive the object, and so
  // must `comm` and `way`. A node has at most 8 * `most_numbers` bytes in fetch(). Does not
  // communicate.
  DeviceGhosts(MPI_Comm comm, const HaloPlan& halo, std::int64_t nodes, std::int64_t most_numbers,
               GhostWords& way, StreamRef stream);

  bool alone() const { return halo_ == nullptr; }
  std::size_t rank() const { return rank_; }  // of this process among those of the exchange
  std::int64_t ghosts() const { return alone() ? 0 : halo_->ghosts; }

  // Takes the ghosts' values from their owners. `values` has `width` values per node, side by side,
  // in GPU memory, and the ghosts behind the nodes. Waits for the stream. Collective.
  template <class T>
  void fetch(T* values, std::int64_t width = 1) const {
    static_assert(sizeof(T) % 4 == 0);
    if (!alone())
      fetch_words(reinterpret_cast<std::uint32_t*>(values),
                  width * static_cast<std::int64_t>(sizeof(T) / 4));
  }
  // The sum or the maximum over the ranks. Collective.
  double sum(double value) const { return reduced(value, MPI_SUM); }
  double max(double value) const { return reduced(value, MPI_MAX); }
  // Where each rank's numbers begin that has `mine` of them, and the total. Collective.
  std::vector<std::int64_t> starts_of(std::int64_t mine) const;
  // Throws where another rank has failed. Collective.
  void agree() const;

 private:
  void fetch_words(std::uint32_t* values, std::int64_t words) const;
  double reduced(double value, MPI_Op op) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  const HaloPlan* halo_ = nullptr;
  std::size_t rank_ = 0;
  std::int64_t nodes_ = 0;
  StreamRef stream_ = nullptr;
  DeviceBuffer<std::int32_t> send_rows_;
  DeviceBuffer<std::uint32_t> packed_;
  GhostWords* way_ = nullptr;
};

// packed[k * words + w] = values[rows[k] * words + w]
void pack_words(const std::uint32_t* values, DeviceSpan<const std::int32_t> rows,
                std::int64_t words, std::uint32_t* packed, StreamRef stream);

// The rows of a rank among those of all ranks. By default it works alone.
struct RankOfRows {
  const DeviceGhosts* ghosts = nullptr;  // of nodes; null: it works alone
  std::int64_t first_row = 0;
  std::span<const std::int32_t> callers_rows = {};  // as in DistributedMatrix

  bool alone() const { return ghosts == nullptr || ghosts->alone(); }
  // The number by which messages name a row.
  std::int64_t callers_row(std::int64_t row) const {
    return callers_rows.empty() ? first_row + row : callers_rows[static_cast<std::size_t>(row)];
  }
};

}  // namespace trireme::multigrid
