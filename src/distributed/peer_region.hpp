// SPDX-License-Identifier: BSD-3-Clause
// Memory of every rank that all the others have mapped: opened by all ranks or by none, and freed
// only when nobody has it mapped any more.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <vector>

#include "device/peer_memory.hpp"
#include "parallel/collective.hpp"

namespace trireme {

// Returns false where some rank has not called it within a few seconds. `comm` is of no use then.
bool all_arrive_soon(MPI_Comm comm);

// The template is for tests, which count what is mapped or let it fail on one rank.
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
    } catch (...) {  // on every rank, some of which have mapped what others are about to free
      mappings_.clear();
      MPI_Barrier(comm);
      throw;
    }
    MPI_Comm_dup(comm, &comm_);
  }

  // Collective. With an error on its way the others may never come: then the memory stays.
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

  // A rank's memory as this rank sees it.
  void* of(int rank) const { return rank == rank_ ? memory_.data() : mappings_[rank].data(); }

 private:
  int rank_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Memory memory_;
  std::vector<Mapping> mappings_;  // of each other rank's memory
};

}  // namespace trireme
