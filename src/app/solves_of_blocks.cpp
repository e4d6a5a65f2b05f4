// SPDX-License-Identifier: BSD-3-Clause
// What several right-hand sides at once add to Solves.
#include <algorithm>
#include <deque>
#include <limits>

#include "app/solves.hpp"
#include "base/available_memory.hpp"
#include "base/stopwatch.hpp"
#include "distributed/host_operator.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using Width = std::int64_t;

// The bytes of this rank for a block: B and X as they are handed over, and the solver's vectors.
// Collective.
double bytes_of_block(const KspSolver& solver, std::int64_t rows, Width width) {
  return static_cast<double>(solver.block_bytes(width)) +
         2.0 * sizeof(double) * static_cast<double>(rows) * static_cast<double>(width);
}

// The widest block of at most `width` for which `part` of the memory suffices on every rank; 0 where
// none does. Collective.
Width widest_that_fits(MPI_Comm comm, const KspSolver& solver, std::int64_t rows, Width width,
                       double part) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int ranks_here = size_of(node);
  MPI_Comm_free(&node);
  const AvailableMemory memory = available_memory();
  const double available = part * std::min(static_cast<double>(memory.own),
                                           static_cast<double>(memory.shared) / ranks_here);
  Width fits = 0;  // every rank asks for every width, because bytes_of_block() is collective
  for (Width tried = 1; tried <= width; ++tried)
    if (bytes_of_block(solver, rows, tried) <= available) fits = tried;
  MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT64_T, MPI_MIN, comm);
  return fits;
}

// Seconds of a product with `width` vectors, the slowest rank. Collective.
double product_seconds(HostOperator& op, Width width) {
  const std::int64_t rows = op.matrix().local_rows();
  const Array<double> x(rows * width, 1.0);
  Array<double> y(rows * width);
  double least = std::numeric_limits<double>::infinity();
  for (int product = 0; product < 3; ++product) {  // the first one allocates
    const Stopwatch watch;
    op.multi_multiply_in_order(side_by_side(x.data(), rows, width),
                               side_by_side(y.data(), rows, width));
    if (product > 0) least = std::min(least, max_over_ranks(op.matrix().comm, watch.seconds()));
  }
  return least;
}

}  // namespace

// How many right-hand sides from k on are solved together.
std::size_t Solves::columns_at_once(std::size_t k) {
  if (context_.steps) return 1;
  if (block_width_ == 0) block_width_ = choose_block_width();
  std::size_t count = 0;
  while (count < block_width_ && k + count < solutions_.size() &&
         !checkpointer_->is_solved(k + count))
    ++count;
  return count;
}

std::size_t Solves::choose_block_width() {
  const MPI_Comm comm = context_.matrix->comm;
  const std::optional<std::int64_t> asked = context_.spec.solver.block;
  const auto columns = static_cast<Width>(solutions_.size());
  if (columns < 2 || asked == 1) return 1;
  if (!plan_.solver->solves_blocks()) {
    if (asked)
      block_note_ =
          "solver.block is for the resident engine on CPUs, without options that print each solve: "
          "the right-hand sides were solved one after another";
    return 1;
  }
  const std::int64_t rows = context_.matrix->local_rows();
  if (asked) {
    const Width wanted = std::min<Width>(*asked, columns);
    const Width fits = widest_that_fits(comm, *plan_.solver, rows, wanted, 1);
    const double needed = bytes_of_block(*plan_.solver, rows, wanted);
    collectively(comm, [&] {
      if (fits < wanted)
        fail(ExitCode::resource,
             "solver.block: {} right-hand sides at once need {:.3g} GB on a rank, which is more "
             "than "
             "is available; the largest block that fits is {}",
             wanted, 1e-9 * needed, fits);
    });
    return static_cast<std::size_t>(wanted);
  }
  // A block of fewer columns gains too little to do without --resume within a solve.
  constexpr Width kLeast = 4;
  if (columns < kLeast) return 1;
  constexpr Width kWidest = 32, kUnmeasured = 8;
  constexpr double kPartOfMemory = 0.25;
  const Width limit =
      widest_that_fits(comm, *plan_.solver, rows, std::min(kWidest, columns), kPartOfMemory);
  if (limit <= kUnmeasured) return static_cast<std::size_t>(std::max<Width>(1, limit));
  const auto op = std::dynamic_pointer_cast<HostOperator>(plan_.amat->shared_operator());
  if (!op) return static_cast<std::size_t>(limit);
  double least = std::numeric_limits<double>::infinity();
  Width best = kUnmeasured;
  for (Width width = kUnmeasured; width <= limit; width *= 2) {
    const double each = product_seconds(*op, width) / static_cast<double>(width);
    if (each < least) {
      least = each;
      best = width;
    }
  }
  op->times().clear();
  return static_cast<std::size_t>(best);
}

// As solve(), for `count` right-hand sides from `first` on.
void Solves::solve_block(std::size_t first, std::size_t count) {
  KspSolver& solver = *plan_.solver;
  const std::int64_t rows = context_.matrix->local_rows();
  const auto width = static_cast<Width>(count);
  std::deque<ScaledSystem> systems;  // they cannot move
  std::vector<int> exponents;
  Array<double> b(rows * width), x(rows * width, 0.0);
  const MultiVector<double> bs = side_by_side(b.data(), rows, width);
  const MultiVector<double> xs = side_by_side(x.data(), rows, width);
  bool nonzero = false;
  double unit = 0;
  for (Width j = 0; j < width; ++j) {
    const FirstGuess guessed = guess(first + static_cast<std::size_t>(j));
    ScaledSystem& system =
        systems.emplace_back(*this, first + static_cast<std::size_t>(j), guessed.x);
    system.measure(*this, guessed.nonzero);
    exponents.push_back(system.exponent);
    nonzero = nonzero || guessed.nonzero;
    unit = std::max(unit, system.unit);
    if (guessed.nonzero)
      for (std::int64_t i = 0; i < rows; ++i) xs(i, j) = system.x0.values()[i];
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i)
    for (Width j = 0; j < width; ++j) bs(i, j) = systems[j].b.values()[i];
  solver.monitor([&](std::int64_t iteration, double norm) {
    if (on_iteration_) on_iteration_(iteration, relative(norm, unit));
  });
  if (context_.clock) context_.clock->iterations_begin();
  solver.scale_tolerance(std::span<const int>(exponents));
  std::vector<KspResult> results = solver.solve_block(bs, xs, nonzero);
  std::int64_t longest = 0;
  for (const KspResult& result : results) longest = std::max(longest, result.iterations);
  total_iterations_ += longest;
  seconds_ += results.front().seconds;
  std::vector<Array<double>> solutions(count);
  for (Array<double>& solution : solutions) solution.resize(rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < count; ++j) solutions[j][i] = xs(i, static_cast<Width>(j));
  for (std::size_t j = 0; j < count; ++j) {
    results[j].seconds /= static_cast<double>(width);
    note(first + j, systems[j], std::move(results[j]), std::move(solutions[j]));
  }
}

}  // namespace trireme
