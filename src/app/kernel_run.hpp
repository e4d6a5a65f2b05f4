// SPDX-License-Identifier: BSD-3-Clause
// One kernel's part of a case: build it, solve every right-hand side `repeat` times, measure.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/plain_product.hpp"
#include "app/run_keeper.hpp"
#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "io/problem.hpp"
#include "kernels/registry.hpp"
#include "planning/break_even.hpp"
#include "report/outcome.hpp"

namespace trireme {

// What the kernels of a case share.
struct SolveContext {
  const Case& spec;
  const Problem& problem;  // its vectors; the matrix has moved to `matrix`
  std::shared_ptr<DistributedMatrix> matrix;
  PlainProduct& plain;
  std::optional<Keeping> keeping;    // of the state from which a later run goes on
  int matrix_exponent = 0;           // `matrix` is the problem's times 2^-matrix_exponent
  std::int64_t load_peak_bytes = 0;  // of this rank, while reading and distributing
  std::int64_t resident_before = 0;  // of this rank, before reading
};

struct KernelRun {
  RunOutcome outcome;
  std::vector<Array<double>> solutions;  // one a right-hand side begun, local rows; the last
  std::vector<double> product_us;        // of each product, the slowest rank
};

using IterationCallback = std::function<void(std::int64_t iteration, double relative_residual)>;

// What an InterruptGuard notes on any rank ends the solve that runs, with the solution so far, and
// leaves out the solves after it. Collective; the same outcome on every rank.
KernelRun run_kernel(const SolveContext& context, const KernelChoice& kernel,
                     const IterationCallback& on_iteration);

// What break-even compares with where it is not among the kernels of the case: seconds to build the
// plain csr (csr-vector on a GPU) and microseconds of one of its products. Collective.
std::string baseline_kernel(Device device);
KernelCost measure_baseline(const std::shared_ptr<DistributedMatrix>& matrix, Device device);

}  // namespace trireme
