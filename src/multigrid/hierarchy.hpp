// SPDX-License-Identifier: BSD-3-Clause
// A multigrid hierarchy by smoothed aggregation, and one cycle of it as a preconditioner (Vanek,
// Mandel and Brezina, Computing 56, 1996).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "multigrid/cycle/level_parts.hpp"
#include "multigrid/facts.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/options.hpp"
#include "multigrid/ranks/rank_parts.hpp"

namespace trireme::multigrid {

struct StoredHierarchy;

class Hierarchy {
 public:
  // Builds all levels. `modes` has the local rows of `matrix`, or width 0. Throws the same Error on
  // every rank: usage for options out of range, input for a matrix that has no hierarchy (a row
  // without a usable diagonal, values that are not finite), resource where the forecast of the
  // memory exceeds what is available. Collective.
  Hierarchy(std::shared_ptr<DistributedMatrix> matrix, const NearNullspace& modes,
            const Options& options);
  // The same hierarchy from what read_hierarchy() has read for this matrix and these options.
  // Throws Error{resource} as above. Collective.
  static std::unique_ptr<Hierarchy> from_stored(std::shared_ptr<DistributedMatrix> matrix,
                                                StoredHierarchy&& stored, const Options& options);
  ~Hierarchy();
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;

  // Takes the present values of the matrix: aggregates and patterns stay, all numbers are computed
  // again. Errors are those of the constructor. Collective.
  void renew();

  // z = M^-1 r by one cycle from z = 0. Both have the matrix's local_rows() numbers and do not
  // overlap. M^-1 is linear, and for a symmetric positive definite matrix symmetric and positive
  // definite. No memory is allocated. Collective.
  void apply(std::span<const double> r, std::span<double> z);
  // z = M^-T r: that of apply() where the matrix is symmetric. The first call allocates.
  // Collective.
  void apply_transposed(std::span<const double> r, std::span<double> z);

  const Options& options() const;
  // Of the finest level: that of the options, unless it does not suit the matrix.
  Smoother smoother() const;
  const std::vector<LevelFacts>& levels() const;  // the finest one first
  const SetUpFacts& set_up() const;
  double operator_complexity() const;  // nonzeros of all levels per nonzero of the finest one
  double grid_complexity() const;      // rows of all levels per row of the finest one
  std::int64_t bytes() const;          // of this rank's part, without the finest matrix itself
  // Why the coarsening ended before the coarsest level was small enough for a dense inverse. Empty
  // where it was.
  const std::string& remark() const;
  HierarchyFacts facts() const;  // all of these
  // This rank's part of the hierarchy for a later run, and about how many bytes that is. Comes
  // before the first renew(). stored() is collective.
  Array<std::byte> stored() const;
  std::int64_t stored_bytes() const;
  // Says in the facts that the hierarchy was read, for which `seconds` passed before the
  // constructor, and what that saved.
  void note_read(double seconds, const ReadFacts& read);
  void note_kept(const KeptFacts& kept);
  // Views of all levels, the finest one first, for a cycle elsewhere. They hold until renew().
  // Throws Error{internal} on several ranks.
  std::vector<HostLevelParts> parts() const;
  // The same on any number of ranks, for a cycle of all of them.
  HostRankParts rank_parts() const;

 private:
  struct Parts;
  explicit Hierarchy(std::unique_ptr<Parts> parts);
  void run(bool transposed, std::span<const double> r, std::span<double> z);

  std::unique_ptr<Parts> parts_;
};

}  // namespace trireme::multigrid
