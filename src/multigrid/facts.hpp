// SPDX-License-Identifier: BSD-3-Clause
// What a hierarchy says about itself, for reports.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/choices.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// One level. The numbers are the same on every rank.
struct LevelFacts {
  std::int64_t rows = 0;                  // of all ranks
  std::int64_t nnz = 0;                   // of all ranks
  std::string kernel;                     // "dense inverse" where the level is solved directly
  Precision precision = Precision::full;  // of the stored values
  bool replicated = false;                // every rank holds the whole level
  double product_us = 0;                  // of one product, the maximum over the ranks
  double spectral_radius = 0;             // of D^-1 A, estimated; 0 where no smoother needs it
  std::string prolongator;                // to this level: words of prolongator_words(); or empty
};

// How a prolongator was made: "smoothed"; "thinned 1/8", where runs below 1/8 of the largest one of
// their row were left out; "plain"; or "plain, for it would fill", where thinning did not suffice.
struct ProlongatorFacts {
  bool smoothed = true;
  double thinned = 0;  // the part of thinning.hpp; 0: none
};
std::string prolongator_words(const ProlongatorFacts& facts, const Options& options);

// Seconds of the parts of the set-up, or of the last renewal, the maximum over the ranks.
struct SetUpFacts {
  double strength = 0;  // of connections
  double aggregation = 0;
  double prolongator = 0;   // tentative and smoothed
  double products = 0;      // P^T A P of all levels
  double distribution = 0;  // of the coarse matrices: their halos, or every rank's whole copy
  double kernels = 0;       // layouts of the products, with the measurement that chooses them
  double smoothers = 0;     // diagonals, weights, spectral radii
  double coarsest = 0;      // the dense inverse
  double read = 0;          // looking into a store, and reading what is there
  double total = 0;         // wall time, with what no part counts
};

// Nonzeros of all levels per nonzero of the finest one, and the same for rows; 1 without any.
double operator_complexity(std::span<const LevelFacts> levels);
double grid_complexity(std::span<const LevelFacts> levels);

// A hierarchy that was read in place of building it.
struct ReadFacts {
  double building = 0;     // seconds that building it took
  double saved = 0;        // of these, by reading it
  std::int64_t bytes = 0;  // of all ranks
};

// A hierarchy that was kept for later runs.
struct KeptFacts {
  double seconds = 0;      // that keeping it took, the maximum over the ranks
  std::int64_t bytes = 0;  // of all ranks
};

// A hierarchy on the host or on a GPU.
struct HierarchyFacts {
  Options options;                          // with which it was built
  Smoother smoother = Smoother::chebyshev;  // of the finest level, which suits the matrix
  std::vector<LevelFacts> levels;           // the finest one first
  SetUpFacts set_up;
  std::int64_t bytes = 0;  // of this rank's part, without the finest matrix itself
  std::string remark;      // why the coarsening ended early; empty: the coarsest level is small
  std::optional<ReadFacts> read = {};
  std::optional<KeptFacts> kept = {};
};

}  // namespace trireme::multigrid
