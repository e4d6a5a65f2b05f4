// SPDX-License-Identifier: BSD-3-Clause
// Who is a candidate of `preconditioner: auto`, and what it is expected to cost before it is
// measured: what the facts of solvers/preconditioners/list.hpp come to for a matrix.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "distributed/distributed_matrix.hpp"
#include "planning/preconditioner_rule.hpp"
#include "solvers/preconditioners/any_preconditioner.hpp"

namespace trireme {

using solvers::AnyPreconditioner;

// The preconditioner with which a run begins. Collective.
AnyPreconditioner first_preconditioner(const DistributedMatrix& matrix);

struct PreconditionerCandidates {
  std::vector<AnyPreconditioner> preconditioners;
  std::vector<PreconditionerOption> options;  // one per preconditioner
};

// The solves for which a preconditioner is looked for.
struct RunningSolver {
  AnyPreconditioner preconditioner;
  std::string method;     // of solvers/methods/list.hpp, or another one
  bool on_gpu = false;    // the products are
  bool in_order = false;  // the operator has an order of rows of its own
};

// The preconditioner of `running`, and then all others of the list, with their rates. One that does
// not serve says why. Collective.
PreconditionerCandidates preconditioner_candidates(const DistributedMatrix& matrix,
                                                   const RunningSolver& running);

// Whether the cache can have what the set-up of this preconditioner makes.
bool can_be_found(const AnyPreconditioner& preconditioner);

// Predicts the seconds of all options but the first, whose iteration is known, from those of a
// product with the matrix. `candidates` has one per option. `found`: the cache has what a set-up
// makes.
void predict_costs(PreconditionerRule& rule, std::span<const AnyPreconditioner> candidates,
                   double product_seconds, bool on_gpu, bool found);

}  // namespace trireme
