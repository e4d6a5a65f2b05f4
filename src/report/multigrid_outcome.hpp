// SPDX-License-Identifier: BSD-3-Clause
// What a report says about a multigrid hierarchy, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.hpp"

namespace trireme {

// One level of the hierarchy.
struct LevelOutcome {
  std::int64_t rows = 0, nnz = 0;         // of all ranks
  bool replicated = false;                // every rank holds the whole level
  std::string kernel;                     // "dense inverse" where the level is solved directly
  Precision precision = Precision::full;  // of the stored values
  double product_us = 0;                  // of one product, of the slowest rank; 0: not measured
  double spectral_radius = 0;             // of D^-1 A, estimated; 0: not needed
  std::string prolongator = {};  // to this level: smoothed, thinned, plain and the like; or empty
};

// Seconds of the parts of the set-up, of the slowest rank.
struct MultigridSetUp {
  double strength = 0;
  double aggregation = 0;
  double prolongator = 0;
  double products = 0;      // P^T A P
  double distribution = 0;  // coarse matrices over the ranks
  double kernels = 0;       // layouts, and the measurement that chooses them
  double smoothers = 0;
  double coarsest = 0;  // the dense inverse
  double read = 0;      // looking into the cache, and reading a hierarchy that is there
  double total = 0;     // all of it; what no part names is the difference
};

// A hierarchy that an earlier run had kept in the cache.
struct ReadHierarchy {
  double building_seconds = 0;  // of that run
  double saved_seconds = 0;     // of these
  std::int64_t bytes = 0;       // of all ranks
};

// A hierarchy that this run has kept in the cache.
struct KeptHierarchy {
  double seconds = 0;      // of the slowest rank
  std::int64_t bytes = 0;  // of all ranks
};

struct MultigridOutcome {
  std::vector<LevelOutcome> levels;  // the finest one first
  double operator_complexity = 0;    // nonzeros of all levels over those of the finest one
  double grid_complexity = 0;        // rows of all levels over those of the finest one
  std::string cycle;                 // in words: "V-cycle"
  std::string smoother;              // in words: "Chebyshev polynomial of degree 2"
  std::int64_t bytes = 0;            // of all ranks, without the finest matrix
  MultigridSetUp set_up;             // of the first set-up
  std::string remark;  // why the coarsening ended early; empty: the coarsest level is small
  std::optional<ReadHierarchy> read = {};  // none: it was built
  std::optional<KeptHierarchy> kept = {};  // none: it was not kept
};

}  // namespace trireme
