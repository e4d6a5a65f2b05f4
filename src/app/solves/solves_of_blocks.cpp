// SPDX-License-Identifier: BSD-3-Clause
// What several right-hand sides at once add to Solves.
#include <algorithm>
#include <deque>

#include "app/solves/solves.hpp"

namespace trireme {

// How many right-hand sides from k on are solved together.
std::size_t Solves::columns_at_once(std::size_t k) {
  if (context_.steps || (preconditioning_ && !preconditioning_->lets_blocks_begin())) return 1;
  const std::size_t width = block_width_.value();
  std::size_t count = 0;
  while (count < width && k + count < solutions_.size() && !checkpointer_->is_solved(k + count))
    ++count;
  return count;
}

// As solve(), for `count` right-hand sides from `first` on.
void Solves::solve_block(std::size_t first, std::size_t count) {
  if (preconditioning_)
    preconditioning_->solve_begins(
        std::max<std::int64_t>(0, (wanted_ - count_) / kColumnsPerSolve - 1));
  KspSolver& solver = *plan_.solver;
  const std::int64_t rows = context_.matrix->local_rows();
  const auto width = static_cast<std::int64_t>(count);
  std::deque<std::optional<ScaledSystem>> systems;  // they cannot move
  std::vector<int> exponents;
  Array<double> b(rows * width), x(rows * width, 0.0);
  const MultiVector<double> bs = side_by_side(b.data(), rows, width);
  const MultiVector<double> xs = side_by_side(x.data(), rows, width);
  widest_block_ = std::max(widest_block_, width);
  bool nonzero = false;
  double unit = 0;
  for (std::int64_t j = 0; j < width; ++j) {
    const std::size_t k = first + static_cast<std::size_t>(j);
    FirstGuess guessed = guess(k);
    make_system(systems.emplace_back(), k, guessed, false);
    const ScaledSystem& system = *systems.back();
    exponents.push_back(system.exponent);
    nonzero = nonzero || guessed.nonzero;
    unit = std::max(unit, system.unit);
    if (guessed.nonzero)
      for (std::int64_t i = 0; i < rows; ++i) xs(i, j) = system.x0.values()[i];
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < width; ++j) bs(i, j) = systems[j]->b.values()[i];
  solver.monitor([&](std::int64_t iteration, double norm) {
    if (on_iteration_) on_iteration_(iteration, relative(norm, unit));
  });
  if (context_.clock) context_.clock->iterations_begin();
  solver.scale_tolerance(std::span<const int>(exponents));
  const Array<double> guesses = preconditioning_ && nonzero ? x : Array<double>();
  std::vector<KspResult> results = solver.solve_block(bs, xs, nonzero);
  double block_seconds = results.front().seconds;
  while (preconditioning_ && preconditioning_->falls_back(results)) {
    if (nonzero)
      x = guesses;
    else
      std::ranges::fill(x, 0.0);
    results = solver.solve_block(bs, xs, nonzero);
    block_seconds += results.front().seconds;
  }
  if (preconditioning_) preconditioning_->block_ends(results, results.front().seconds);
  for (KspResult& result : results) result.seconds = block_seconds;
  std::int64_t longest = 0;
  for (const KspResult& result : results) longest = std::max(longest, result.iterations);
  records_.total_iterations += longest;
  records_.seconds += block_seconds;
  std::vector<Array<double>> solutions(count);
  for (Array<double>& solution : solutions) solution.resize(rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < count; ++j) solutions[j][i] = xs(i, static_cast<std::int64_t>(j));
  for (std::size_t j = 0; j < count; ++j) {
    results[j].seconds /= static_cast<double>(width);
    note(first + j, *systems[j], std::move(results[j]), std::move(solutions[j]));
  }
}

}  // namespace trireme
