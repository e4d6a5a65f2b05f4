// SPDX-License-Identifier: BSD-3-Clause
// What a run cost: time, rates and bytes of its products, and memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/run_kernel.hpp"
#include "petsc/mat/amat.hpp"
#include "report/outcome.hpp"

namespace trireme {

// Fills in the times, rates, bytes and padding of the product, and returns the microseconds of each
// product on the slowest rank. Collective.
std::vector<double> add_product_figures(RunOutcome& o, const DistributedMatrix& matrix, Amat& amat);

// Advice on the number of ranks, from the times of the run and a few products without an exchange.
// Empty where there is none: on GPUs, by PETSc's loop, in a block, after fewer than 20 iterations,
// or with a preconditioner whose work and exchanges these times do not tell apart. Collective.
std::string advice_on_ranks(const RunOutcome& o, const DistributedMatrix& matrix, Amat& amat,
                            const AnyPreconditioner& preconditioner);

// Of the rank with the maximum.
struct PeakMemory {
  std::int64_t bytes = 0;
  double over_csr = 0;  // what the run added, over the bytes of that rank's part of the matrix
};

// So far, with what reading the problem took. Collective.
PeakMemory peak_memory(const SolveContext& context);

}  // namespace trireme
