// SPDX-License-Identifier: BSD-3-Clause
// What complete factors of a matrix would cost, from the analysis of the package that would make
// them: cuDSS on a GPU where it is there and they fit, else MUMPS. An analysis looks at the pattern
// and makes no factors.
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
  double analysis_seconds = 0;  // that the analysis took, on the slowest rank
  double nonzeros = 0;          // of the factors
  double operations = 0;        // of the factorisation; 0: not known
  double bytes = 0;             // of all ranks, or of the GPU, while the factors are made
  bool fits = false;            // into the memory that every node and rank, or the GPU, has left
  double factor_seconds = 0;    // expected, at the rates of one core, or of an H100
  double solve_seconds = 0;     // expected, likewise, of one right-hand side
  bool by_cudss = false;
  std::shared_ptr<FactorAnalysis> analysis{};
};

// `symmetric`: L D L^T is meant, not L U. `on_gpu`: products are made there. Empty where neither
// package is there or the analysis fails. Delayed pivots may cost more than is expected.
// Collective.
std::optional<DirectForecast> forecast_direct(
    const std::shared_ptr<const DistributedMatrix>& matrix, bool symmetric, bool on_gpu);

// What forecast_direct() is expected to take, within an order of magnitude: a guess from the
// lengths of rows, which costs nothing. Collective.
double expected_forecast_seconds(const DistributedMatrix& matrix, bool on_gpu);

// Expected of cuDSS on an H100, from the nonzeros of the factors; the analysis, which the host
// does, from those of the matrix.
struct CudssSeconds {
  double analysis, factors, solve;
};
CudssSeconds expected_of_cudss(double nonzeros_of_matrix, double nonzeros_of_factors, int threads);

}  // namespace trireme
