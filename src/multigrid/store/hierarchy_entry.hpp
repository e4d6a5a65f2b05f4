// SPDX-License-Identifier: BSD-3-Clause
// Where the hierarchy of an earlier run may be found, and that of this run is kept for later ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// What a store has of one matrix with its values, one near-nullspace and one set of options. Each
// rank has bytes of its own. All functions but reject() are collective, and none of them throws for
// what is wrong with the store.
class HierarchyEntry {
 public:
  virtual ~HierarchyEntry() = default;
  // The bytes of all ranks; 0 unless every rank has some. They are not read.
  virtual std::int64_t size() = 0;
  // This rank's bytes; none unless every rank has some.
  virtual std::optional<Array<std::byte>> find() = 0;
  // Keeps this rank's bytes in place of earlier ones; `made_in_seconds` is what finding them saves.
  // Returns whether all ranks have kept theirs.
  virtual bool keep(std::span<const std::byte> bytes, double made_in_seconds) = 0;
  // Removes this rank's bytes, which are no hierarchy: `fault` is a clause without a subject.
  virtual void reject(std::string_view fault) = 0;
};

// Returns the entry of these in a store. Collective.
using HierarchyStore = std::function<std::unique_ptr<HierarchyEntry>(
    const DistributedMatrix& matrix, const NearNullspace& modes, const Options& options)>;

}  // namespace trireme::multigrid
