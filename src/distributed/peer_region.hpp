// SPDX-License-Identifier: BSD-3-Clause
// Device memory of every rank that all other ranks have mapped. All ranks open it or none does, and
// it is freed only when no rank has it mapped.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <vector>

#include "device/peer_memory.hpp"
#include "parallel/collective.hpp"

namespace trireme {

// Waits until every rank has called it. Returns false where a rank has not done so within three
// seconds; `comm` must not be used after that.
bool all_arrive_soon(MPI_Comm comm);

// The template parameters are for tests, which count mappings or let one fail.
template <class Memory = PeerMemory, class Mapping = PeerMapping>
class PeerRegion {
 public:
  // Collective. Throws the same Error on every rank.
  PeerRegion(MPI_Comm comm, std::size_t bytes) : rank_(rank_of(comm)), mappings_(size_of(comm)) {
    PeerHandle mine;
    collectively(comm, [&] {
      memory_ = Memory(bytes);
      mine = memory_.handle();
    });
    std::vector<PeerHandle> handles(mappings_.size());
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, handles.data(), sizeof mine, MPI_BYTE, comm);
    try {
      collectively(comm, [&] {
        for (int other = 0; other < std::ssize(mappings_); ++other)
          if (other != rank_) mappings_[other] = Mapping(handles[other]);
      });
    } catch (...) {  // on every rank; some have mapped memory that others are about to free
      mappings_.clear();
      MPI_Barrier(comm);
      throw;
    }
    MPI_Comm_dup(comm, &comm_);
  }

  // Collective. Where an exception is in flight, the other ranks may never come. The memory is then
  // left to the end of the process.
  ~PeerRegion() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    mappings_.clear();
    if (finalized) return;
    if (!error_in_flight()) {
      MPI_Barrier(comm_);
    } else if (!all_arrive_soon(comm_)) {
      memory_.leave_to_the_process();
      return;
    }
    MPI_Comm_free(&comm_);
  }
  PeerRegion(const PeerRegion&) = delete;
  PeerRegion& operator=(const PeerRegion&) = delete;

  // The address, on this rank, of the memory of `rank`.
  void* of(int rank) const { return rank == rank_ ? memory_.data() : mappings_[rank].data(); }

 private:
  int rank_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Memory memory_;
  std::vector<Mapping> mappings_;  // of the memory of each other rank
};

}  // namespace trireme
