// SPDX-License-Identifier: BSD-3-Clause
// What complete factors of a matrix would cost, from the analysis of MUMPS, which looks at the
// pattern alone and makes no factors.
#pragma once

#include <memory>
#include <optional>

#include "distributed/distributed_matrix.hpp"
#include "petsc/factors/mumps_analysis.hpp"
#include "petsc/mat/assembled_mat.hpp"

namespace trireme {

// From which CompleteFactors can go on.
struct FactorAnalysis {
  std::unique_ptr<AssembledMat> entries;
  std::unique_ptr<MumpsAnalysis> by_minimum_fill;
};

struct DirectForecast {
  double analysis_seconds = 0;  // that the forecast took, on the slowest rank
  double nonzeros = 0;          // of the factors
  double operations = 0;        // of the factorisation
  double bytes = 0;             // of all ranks, while the factors are made
  bool fits = false;            // into the memory that every node and rank has left
  double factor_seconds = 0;    // expected, at the rates of one core
  double solve_seconds = 0;     // expected, likewise, of one right-hand side
  std::shared_ptr<FactorAnalysis> analysis{};
};

// `symmetric`: L D L^T is meant, not L U. Empty where PETSc has no MUMPS or the analysis fails.
// Delayed pivots may cost more than is expected. Collective.
std::optional<DirectForecast> forecast_direct(
    const std::shared_ptr<const DistributedMatrix>& matrix, bool symmetric);

// What forecast_direct() is expected to take, within an order of magnitude: a guess from the
// lengths of rows, which costs nothing. Collective.
double expected_forecast_seconds(const DistributedMatrix& matrix);

}  // namespace trireme
