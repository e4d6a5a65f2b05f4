// SPDX-License-Identifier: BSD-3-Clause
// Numbers of the nodes of a level on several ranks: those of this rank's nodes, and behind them
// copies of those of the ghost nodes, which belong to other ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "distributed/halo.hpp"

namespace trireme::multigrid {

class NodeExchange {
 public:
  // Of a process that works alone: there are no ghosts, and no function communicates.
  NodeExchange() = default;
  // `halo` is a plan of nodes, of which this rank has `nodes`. It must outlive the object, and so
  // must `comm`.
  NodeExchange(MPI_Comm comm, const HaloPlan& halo, std::int64_t nodes)
      : comm_(comm), halo_(&halo), nodes_(nodes) {}

  bool alone() const { return halo_ == nullptr; }

  // Takes the ghosts' values from their owners. `values` has `width` values per node, side by side.
  // Collective.
  template <class T>
  void fetch(std::span<T> values, int width = 1) const {
    if (!alone()) fetch_bytes(values.data(), static_cast<std::int64_t>(sizeof(T)) * width);
  }
  // The sum or the maximum over the ranks. Collective.
  double sum(double value) const { return reduced(value, MPI_SUM); }
  double max(double value) const { return reduced(value, MPI_MAX); }

 private:
  void fetch_bytes(void* values, std::int64_t bytes_per_node) const;
  double reduced(double value, MPI_Op op) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  const HaloPlan* halo_ = nullptr;
  std::int64_t nodes_ = 0;
};

}  // namespace trireme::multigrid
