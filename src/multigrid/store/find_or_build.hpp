// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy from a store where it is there, and otherwise built, and kept where reading it will
// be faster than building it.
#pragma once

#include <memory>

#include "distributed/distributed_matrix.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/options.hpp"
#include "multigrid/store/hierarchy_entry.hpp"

namespace trireme::multigrid {

// When a hierarchy is kept.
struct KeepRule {
  // That a rank is expected to read, check and copy per second, before that has been measured: a
  // third of the speed for a file in memory (docs/performance/multigrid.md).
  double bytes_per_second = 0.5e9;
  double least_saving = 0.02;  // seconds that an entry has to save
};

// The hierarchy that the constructor of Hierarchy makes of these, to the last bit: its cycles and
// its renewals have the same results. Where reading it took longer than building it had, the store
// remembers that, and later runs build. Throws what the constructor throws. Collective.
std::unique_ptr<Hierarchy> find_or_build(const HierarchyStore& store,
                                         const std::shared_ptr<DistributedMatrix>& matrix,
                                         const NearNullspace& modes, const Options& options,
                                         const KeepRule& rule = {});

// Whether find_or_build() is expected to read a hierarchy. Collective.
bool expects_to_find(const HierarchyStore& store, const DistributedMatrix& matrix,
                     const NearNullspace& modes, const Options& options);

}  // namespace trireme::multigrid
