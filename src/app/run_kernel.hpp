// SPDX-License-Identifier: BSD-3-Clause
// One kernel's part of a case: build it, solve every right-hand side `repeat` times, measure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/case_observer.hpp"
#include "app/figures/start_clock.hpp"
#include "app/requested_kernels.hpp"
#include "app/solves/checkpointer.hpp"
#include "app/solves/kernel_tuning.hpp"
#include "app/solves/plain_product.hpp"
#include "app/solves/preconditioner_tuning.hpp"
#include "app/solves/steps.hpp"
#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/scaling/system_scaling.hpp"
#include "io/problem.hpp"
#include "kernels/registry.hpp"
#include "multigrid/store/hierarchy_entry.hpp"
#include "report/outcome.hpp"

namespace trireme {

class RungWatch;

// What the kernels of a case share.
struct SolveContext {
  const Case& spec;
  // Its vectors. The matrix has moved to `matrix`, and the modes are in the order of the file.
  const Problem& problem;
  std::shared_ptr<DistributedMatrix> matrix;
  PlainProduct& plain;
  std::shared_ptr<const Redistribution> moved = {};  // of the rows; null: they stay in their order
  std::optional<CheckpointSettings> checkpoints;     // empty: no state is kept
  int matrix_exponent = 0;  // `matrix` is the problem's times 2^-this, where it has no steps
  // `matrix`, with which the solver works, is that of `plain` scaled by this; null: it is the same
  // matrix.
  const SystemScaling* scaling = nullptr;
  // Of a sequence that is scaled: brings `matrix` to the step of `steps`, which has changed so.
  // Returns whether the scaling was found anew: then it has called give_up() as Steps::go_on()
  // does. Throws what ScaledContext throws, and Error{breakdown} for a matrix that is singular by
  // its pattern. Collective.
  std::function<bool(Steps::Change, const std::function<void()>& give_up)> follow_step = {};
  Steps* steps = nullptr;            // of problem.steps, which is at its step 0; null: one system
  std::int64_t load_peak_bytes = 0;  // of this rank, while it reads and distributes the matrix
  std::int64_t resident_before = 0;  // bytes of this rank, before it reads
  StartClock* clock = nullptr;       // hears of the first iteration; null: nobody does
  // The matrix in an order of rows; null for Ordering::given. Collective.
  FindOrder order = [](Ordering, Device) { return std::shared_ptr<OrderedMatrix>(); };
  multigrid::HierarchyStore hierarchies = {};  // null: none are kept
  MatchingRules matching = {};                 // of solver.scaling
  // Is told that a step of the sequence begins: its number and the number of all steps.
  std::function<void(std::int64_t, std::int64_t)> on_step = {};
  // Is told what begins, in words, before the iterations; may be null.
  std::function<void(const std::string&)> on_part = {};
  PreconditionerClock preconditioner_clock = {};  // of `preconditioner: auto`
  // Of a rung of `method: auto`: see RungTry.
  RungWatch* watch = nullptr;
  std::span<const Array<double>> from = {};  // guesses for right-hand sides; may be fewer or empty
  std::vector<std::string> tried = {};
  std::shared_ptr<FactorAnalysis> analysis = {};
  bool climbs = false;  // it is a rung, even if the only one
  bool last = true;
  MeasureProduct measure = measure_product;

  // Right-hand sides or steps.
  std::size_t systems() const {
    return steps ? static_cast<std::size_t>(steps->count()) : problem.rhs.size();
  }
  // Of the present step, where there are steps; k is the number of a right-hand side.
  const Array<double>& rhs(std::size_t k) const { return steps ? steps->rhs() : problem.rhs[k]; }
  int exponent_of_matrix() const { return steps ? steps->matrix_exponent() : matrix_exponent; }
  bool knows_solution() const {
    return steps ? steps->solution_is_one() : !problem.x_exact.empty();
  }
};

struct KernelRun {
  RunOutcome outcome;
  // One per right-hand side that was begun, local rows of the matrix. Of a sequence the last one or
  // two steps.
  std::vector<Array<double>> solutions;
  std::vector<double> product_us;          // of each product, the slowest rank
  std::optional<KernelDecision> decision;  // of `kernel: auto`, where a later run can use it
};

// What an InterruptGuard notes on any rank ends the solve that runs, with the solution so far, and
// leaves out the solves after it. Collective; the same outcome on every rank.
KernelRun run_kernel(const SolveContext& context, const PlannedRun& planned,
                     const IterationCallback& on_iteration);

}  // namespace trireme
