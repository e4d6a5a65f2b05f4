// SPDX-License-Identifier: BSD-3-Clause
// The numbers of a level's smoother: W, the spectral radius of W A, and the coefficients.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "distributed/host_operator.hpp"
#include "multigrid/cycle/smoothing.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

struct SmootherNumbers {
  Smoother kind = Smoother::chebyshev;  // which suits the matrix, after options and SmoothedLevel
  Smoothing smoothing;
  Array<double> inverse;        // W: a number per row, or block_size numbers per row
  std::int64_t block_size = 1;  // of W
  double spectral_radius = 0;   // of W A, estimated from below; 1 for l1_jacobi
};

// Four vectors of the level's local rows.
struct WorkVectors {
  std::span<double> r, z, p, q;
};

struct SmoothedLevel {
  int number = 0;              // for messages; 0 is the finest
  std::int64_t node_size = 1;  // rows of a node, for block_jacobi
  bool coarsest = false;       // no coarser level follows: the smoother takes more steps
  bool symmetric = true;       // false: a Jacobi smoother replaces chebyshev and block_jacobi
  double radius = 0;           // of D^-1 A, estimated with the prolongator; 0: not known
};

inline constexpr int kEstimationSteps = 10;  // of CG
inline constexpr double kMargin = 1.1;       // for what the estimation has not found

// The smoother that suits the matrix.
Smoother chosen_smoother(const Options& options, const SmoothedLevel& level);

// The coefficients of `chebyshev`, or else of a Jacobi smoother, where no eigenvalue of W A exceeds
// `high`.
Smoothing smoothing_up_to(double high, Smoother smoother, std::int32_t degree, bool coarsest);

// Throws Error{input} on every rank of `comm` for a matrix without a positive diagonal, or with a
// diagonal block that is not positive definite. Collective.
SmootherNumbers smoother_numbers(MPI_Comm comm, HostOperator& op, const Options& options,
                                 const SmoothedLevel& level, const WorkVectors& work);

}  // namespace trireme::multigrid
