// SPDX-License-Identifier: BSD-3-Clause
// The analysis of MUMPS: it finds an order of elimination by the pattern of a matrix, and tells
// what factors in that order will take. No factors are made.
#pragma once

#include <petscksp.h>

#include <functional>
#include <memory>

#include "petsc/factors/mumps.hpp"
#include "petsc/mat/assembled_mat.hpp"
#include "petsc/shim.hpp"

namespace trireme {

class MumpsAnalysis {
 public:
  // Minimum fill is approximate, and finds orders as good as nested dissection where a matrix comes
  // from a plane or from a graph that fits into no space; in three dimensions nested dissection
  // saves up to half of the work. It costs about ten times as much.
  enum class Order { minimum_fill, dissection };

  // Sets what the analysis and the factorisation heed. Is called before and after the analysis,
  // which reads options.
  using SetControls = std::function<void(Mat factors)>;

  // Of a matrix in PETSc's AIJ. `symmetric`: L D L^T is meant, not L U. Throws Error{usage} for
  // options that MUMPS does not know. Collective.
  MumpsAnalysis(Mat matrix, bool symmetric, Order order, const SetControls& set_controls);

  // lu or cholesky, with the analysis. PCSetUp makes the factors, for a matrix of the same pattern.
  PC pc() const { return pc_; }
  Mat factors() const;
  bool is_symmetric() const { return symmetric_; }
  bool has_failed() const { return mumps::infog(factors(), 1) < 0; }
  // Whether an option has chosen the order.
  bool is_ordered_by_option() const { return by_option_; }

  // Of an analysis that has not failed.
  const mumps::Estimate& estimate() const { return estimate_; }
  PetscInt room() const { return room_; }  // ICNTL(14), which the estimate has within
  // Expected, at the rates of one core; the latter of one right-hand side.
  double factor_seconds() const;
  double solve_seconds() const;

 private:
  bool symmetric_;
  bool by_option_ = false;
  PetscInt room_ = 0;
  double rows_ = 0;
  mumps::Estimate estimate_;
  PcHandle pc_;
};

// `first`, which is by minimum fill, or an analysis by dissection: that is made where its factors
// are expected to take clearly longer, and taken where its own are expected to be made sooner.
// Collective.
std::unique_ptr<MumpsAnalysis> with_better_order(std::unique_ptr<MumpsAnalysis> first, Mat matrix,
                                                 const MumpsAnalysis::SetControls& set_controls);

}  // namespace trireme
