// SPDX-License-Identifier: BSD-3-Clause
#include "app/solves/strategies/in_blocks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "app/ladder/rung_watch.hpp"
#include "app/solves/judging.hpp"

namespace trireme {
namespace {

// A right-hand side of a block takes about half of the time of a solve by itself.
constexpr std::int64_t kColumnsPerSolve = 2;

}  // namespace

InBlocks::InBlocks(SolveParts& parts)
    : parts_(parts), one_by_one_(parts), width_(parts.context, parts.plan) {}

bool InBlocks::solve(std::size_t k) {
  if (const std::size_t count = columns_at_once(k); count > 1)
    solve_block(k, count);
  else
    one_by_one_.solve_from(guess_of(parts_.context, k), k, solves_after());
  return true;
}

// How many right-hand sides from k on are solved together.
std::size_t InBlocks::columns_at_once(std::size_t k) {
  if (parts_.preconditioning && !parts_.preconditioning->lets_blocks_begin()) return 1;
  const std::size_t width = width_.value();
  std::size_t count = 0;
  while (count < width && k + count < parts_.solutions.size() &&
         !parts_.checkpointer.is_solved(k + count))
    ++count;
  return count;
}

// How many solves follow the one that begins, in units of a solve by itself.
std::int64_t InBlocks::solves_after() const {
  return width_.is_expected() ? parts_.solves_after() / kColumnsPerSolve : parts_.solves_after();
}

InBlocks::Block InBlocks::block_of(std::size_t first, std::size_t count) {
  Block block{.rows = parts_.context.matrix->local_rows(),
              .width = static_cast<std::int64_t>(count)};
  block.b.resize(block.rows * block.width);
  block.x.resize(block.rows * block.width, 0.0);
  const MultiVector<double> bs = block.view(block.b), xs = block.view(block.x);
  for (std::int64_t j = 0; j < block.width; ++j) {
    const std::size_t k = first + static_cast<std::size_t>(j);
    FirstGuess guess = guess_of(parts_.context, k);
    block.systems.push_back(system_from(guess, k, parts_));
    const ScaledSystem& system = *block.systems.back();
    block.nonzero_guess = block.nonzero_guess || guess.nonzero;
    block.unit = std::max(block.unit, system.loop().unit);
    if (guess.nonzero)
      for (std::int64_t i = 0; i < block.rows; ++i) xs(i, j) = system.loop_x0()[i];
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < block.rows; ++i)
    for (std::int64_t j = 0; j < block.width; ++j) bs(i, j) = block.systems[j]->loop_b()[i];
  return block;
}

// Leaves the solutions in block.x. The seconds of each result are its part of those of the block.
std::vector<KspResult> InBlocks::run(Block& block) {
  KspSolver& solver = *parts_.plan.solver;
  PreconditionerTuning* const preconditioning = parts_.preconditioning;
  const MultiVector<double> bs = block.view(block.b), xs = block.view(block.x);
  solver.monitor([this, unit = block.unit](std::int64_t iteration, double norm) {
    if (parts_.on_iteration) parts_.on_iteration(iteration, relative(norm, unit));
  });
  if (parts_.context.clock) parts_.context.clock->iterations_begin();
  std::vector<int> exponents;
  std::vector<double> units;
  for (const auto& system : block.systems) {
    exponents.push_back(system->exponent);
    units.push_back(system->loop_norms());
  }
  solver.scale_tolerance(std::span<const int>(exponents), std::move(units));
  const Array<double> guesses = preconditioning && block.nonzero_guess ? block.x : Array<double>();
  std::vector<KspResult> results = solver.solve_block(bs, xs, block.nonzero_guess);
  double seconds = results.front().seconds;
  while (preconditioning && preconditioning->falls_back(results)) {
    if (block.nonzero_guess)
      block.x = guesses;
    else
      std::ranges::fill(block.x, 0.0);
    results = solver.solve_block(bs, xs, block.nonzero_guess);
    seconds += results.front().seconds;
  }
  if (preconditioning) preconditioning->block_ends(results, results.front().seconds);
  if (RungWatch* const rung = parts_.context.watch)
    rung->block_ends(block.width, seconds, parts_.solves_after() + 1 - block.width);
  parts_.records.seconds += seconds;
  for (KspResult& result : results) result.seconds = seconds / static_cast<double>(block.width);
  return results;
}

void InBlocks::solve_block(std::size_t first, std::size_t count) {
  if (parts_.preconditioning)
    parts_.preconditioning->solve_begins(
        std::max<std::int64_t>(0, (parts_.solves_after() + 1) / kColumnsPerSolve - 1));
  Block block = block_of(first, count);
  widest_ = std::max(widest_, block.width);
  std::vector<KspResult> results = run(block);
  std::int64_t longest = 0;
  for (const KspResult& result : results) longest = std::max(longest, result.iterations);
  parts_.records.total_iterations += longest;
  const MultiVector<double> xs = block.view(block.x);
  std::vector<Array<double>> solutions(count);
  for (Array<double>& solution : solutions) solution.resize(block.rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < block.rows; ++i)
    for (std::size_t j = 0; j < count; ++j) solutions[j][i] = xs(i, static_cast<std::int64_t>(j));
  for (std::size_t j = 0; j < count; ++j) {
    const ScaledSystem& system = *block.systems[j];
    one_by_one_.meet_the_claim(first + j, system, results[j], solutions[j]);
    note_solve(parts_, first + j, system, std::move(results[j]),
               system.from_loop(std::move(solutions[j])));
  }
}

void InBlocks::fill(RunOutcome& outcome) {
  outcome.block = widest_;
  if (std::string note = width_.take_note(); !note.empty())
    outcome.notes.push_back(std::move(note));
}

}  // namespace trireme
