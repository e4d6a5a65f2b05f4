// SPDX-License-Identifier: BSD-3-Clause
// The levels of smoothed aggregation, built in the memory of the GPUs of several ranks.
//
// Levels of many rows lie on the ranks. A rank has its rows with the columns of its ghosts behind
// its own, as ExtendedRows on the host. The functors are those of the host, and so are the bits of
// aggregates, prolongators and coarse matrices. What crosses the border is little: the GPU packs
// it, and the hosts carry it. A level of few rows lies whole on every GPU, which builds all levels
// below by itself (DeviceSetUp).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "distributed/distributed_matrix.hpp"
#include "multigrid/cuda/device_csr_rows.hpp"
#include "multigrid/cycle/level_parts.hpp"
#include "multigrid/facts.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/options.hpp"
#include "multigrid/ranks/rank_levels.hpp"

namespace trireme::multigrid {

class RankSetUp {
 public:
  // Builds all levels on the current device of each rank; several ranks may have one GPU. Throws
  // the errors of Hierarchy, and Error{resource} where the memory of a GPU does not suffice, on
  // every rank. Collective.
  RankSetUp(std::shared_ptr<DistributedMatrix> matrix, const NearNullspace& modes,
            const Options& options);
  // No work that uses the levels may be under way.
  ~RankSetUp();
  RankSetUp(const RankSetUp&) = delete;
  RankSetUp& operator=(const RankSetUp&) = delete;

  // Takes the present values of the matrix: aggregates and patterns stay. After an error the object
  // is of no use. Collective.
  void renew();

  // All levels as a cycle takes them, and the borders of the distributed ones, of whose `parts`
  // only the sizes are set. Views hold until renew(), and as long as the result. Collective.
  struct ForCycle {
    std::vector<RankLevel> borders;
    std::vector<DeviceLevelParts> levels;
    std::vector<DeviceRows> cut;  // matrices that were cut at the border
  };
  ForCycle for_cycle() const;

  const DistributedMatrix& matrix() const;
  HierarchyFacts facts() const;  // kernels and products of levels aside

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trireme::multigrid
