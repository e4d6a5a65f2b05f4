// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy on several ranks whose cycle runs on their GPUs, which build the levels too; or the
// hosts build them.
//
// Levels of many rows lie on the ranks. Each step of them is the sweep of one GPU over the rows of
// its rank, and an exchange (rank_borders.hpp). Levels of few rows lie whole on every rank, and
// every GPU does the same work on them, so that a cycle exchanges one vector for all of these
// levels.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "distributed/gpu_exchange.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/cuda/make_exchange.hpp"
#include "multigrid/facts.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/ranks/rank_levels.hpp"

namespace trireme::multigrid {

// A level of at most so many rows lies whole on every GPU: its steps take less time there than the
// exchanges of a distributed level.
inline constexpr std::int64_t kWholeRowsOnGpus = 100'000;

class RankBorders;
class RankSetUp;

class RankHierarchy {
 public:
  // Copies the levels of `host`, which lie on several ranks and must outlive the object, to the
  // current device of each rank. Throws Error{resource} on every rank where the memory does not
  // suffice, and what make_exchange() throws. Collective.
  RankHierarchy(const Hierarchy& host, const MakeExchange& make_exchange,
                const CudaCycleOptions& options = {});
  // Builds the levels there (rank_set_up.hpp). Throws what RankSetUp and make_exchange() throw.
  // Collective.
  RankHierarchy(const std::shared_ptr<DistributedMatrix>& matrix, const NearNullspace& modes,
                const Options& options, const MakeExchange& make_exchange,
                const CudaCycleOptions& in_cycle = {});
  ~RankHierarchy();

  // Takes the present numbers of `host`, whose patterns are those of before. No cycle may be under
  // way, and recorded ones become invalid. After an error the object is of no use. Collective.
  void renew(const Hierarchy& host);
  // Takes the present values of the matrix, of levels that were built there. Likewise.
  void renew();
  bool built_on_host() const { return set_up_ == nullptr; }

  // Queues z = M^-1 r by one cycle. r and z have the rows of this rank and do not overlap. The call
  // may be recorded as the exchanges' recording() says. One cycle at a time may be in flight.
  // `hints` as for GivenPreconditioner. Collective.
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream,
               const solvers::LoopHints& hints = {});

  // Throws Error{resource} where this GPU has waited for another one beyond the timeout.
  void check() const;
  // Of the set-up, with the copies. Products are those with the rows of a rank, without
  // the exchange.
  const HierarchyFacts& facts() const { return facts_; }

 private:
  void connect(const std::vector<RankLevel>& distributed,
               const std::vector<std::int64_t>& row_starts, const MakeExchange& make_exchange);
  template <class AllLevels>
  void make_cycle(const AllLevels& levels, CycleKind kind);
  template <class AllLevels>
  void renew_from(const std::vector<RankLevel>& distributed, const AllLevels& levels,
                  CycleKind kind);
  void set_facts(const HierarchyFacts& of_levels, double seconds);

  MPI_Comm comm_ = MPI_COMM_NULL;      // of the matrix
  std::unique_ptr<RankSetUp> set_up_;  // null: the host has built the levels
  CudaCycleOptions options_;
  std::unique_ptr<RankBorders> borders_;
  std::unique_ptr<CudaHierarchy> cycle_;
  HierarchyFacts facts_;

  // Where the finest level lies whole on every rank: vectors of it, which the ranks gather.
  Gathering gathering_;
  std::int64_t first_ = 0;
  Stream stream_;
  std::unique_ptr<GpuExchange> gather_;
  DeviceBuffer<std::int32_t> sum_row_ptr_, sources_;
  DeviceBuffer<double> whole_r_, whole_z_;
};

}  // namespace trireme::multigrid
