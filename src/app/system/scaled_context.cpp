// SPDX-License-Identifier: BSD-3-Clause
// Scales the matrix, and lets the loop test the residual in the rows of the problem.
#include "app/system/scaled_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "distributed/ordered_matrix.hpp"
#include "distributed/row_sizes.hpp"
#include "distributed/scaling/system_scale.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// The weights by which the rows of the scaled residual become those of the problem's, and with
// norm: rows those divided by their sizes. They take the place of one over the sizes of the scaled
// rows in the loop's test of convergence. Where they are nearly equal, the test has no weights.
// None is smaller than 2^-300 of the largest one, so that their squares can be summed. Collective.
RowSizes weights_of_rows(const DistributedMatrix& matrix, const SystemScaling& scaling,
                         SmallNorm norm) {
  constexpr int kLike = 3, kMostBelow = 300;
  if (norm == SmallNorm::residual) return {};
  const RowSizes& sizes = row_sizes(matrix);
  const bool by_sizes = norm == SmallNorm::rows && sizes.differ;
  const auto size = [&](std::size_t i) { return by_sizes ? sizes.inverse[i] : 1.0; };
  int extremes[] = {std::numeric_limits<int>::min(), std::numeric_limits<int>::min()};
  for (std::size_t i = 0; i < scaling.rows.size(); ++i) {
    const int exponent = std::ilogb(size(i)) - scaling.rows[i];
    extremes[0] = std::max(extremes[0], exponent);
    extremes[1] = std::max(extremes[1], -exponent);
  }
  MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT, MPI_MAX, matrix.comm);
  const int largest = extremes[0], least = -extremes[1];
  RowSizes weights;
  if (largest - least <= kLike) return weights;
  weights.differ = true;
  weights.inverse.resize(scaling.rows.size());
  for (std::size_t i = 0; i < weights.inverse.size(); ++i)
    weights.inverse[i] =
        std::max(std::ldexp(size(i), -scaling.rows[i] - largest), std::ldexp(1, -kMostBelow));
  return weights;
}

// Empty: no matching says so.
std::string why_singular(const DistributedMatrix& matrix, const SystemScaling& scaling) {
  if (scaling.unmatched_rows == 0 || scaling.matched != Matched::whole) return "";
  return fmt::format(
      "the matrix is singular, whatever the values of its entries are: its structural rank is {} "
      "of {}, and row {} (from 0) cannot be matched with a column",
      matrix.global_rows() - scaling.unmatched_rows, matrix.global_rows(), scaling.first_unmatched);
}

}  // namespace

ScaledContext::ScaledContext(const SolveContext& of) : of_(of), context_(of) {
  const DistributedMatrix& matrix = *of.matrix;
  Scaled found = scaled(of.matching);
  scaling_ = std::move(found.scaling);
  context_.matrix = found.matrix;
  context_.scaling = &scaling_;
  begin_with_scaling();
  if (of.steps)
    context_.follow_step = [this](Steps::Change change, const std::function<void()>& give_up) {
      return follow_step(change, give_up);
    };
  // What the cache has is of the matrix as it was read.
  context_.order = [scaled = found.matrix](Ordering ordering, Device device) {
    return order_matrix(scaled, ordering, device);
  };
  context_.hierarchies = {};
  // The directions of a loop that was stopped depend on what was matched.
  if (context_.checkpoints && of.spec.solver.scaling == Scaling::matching)
    context_.checkpoints->identity.push_back(
        {"the matching",
         scaling_.matched == Matched::whole
             ? "of the whole matrix"
             : fmt::format("of the rows of each of {} ranks", size_of(matrix.comm))});
  seconds_ = max_over_ranks(matrix.comm, watch_.seconds());
}

ScaledContext::Scaled ScaledContext::scaled(const MatchingRules& rules) const {
  const DistributedMatrix& matrix = *of_.matrix;
  Scaled result{.scaling = find_scaling(*of_.spec.solver.scaling, matrix, rules), .matrix = {}};
  result.matrix = scaled_matrix(matrix, result.scaling);
  if (const int exponent = scale_matrix(*result.matrix); exponent != 0)
    for (std::int32_t& of_row : result.scaling.rows) of_row -= exponent;
  return result;
}

void ScaledContext::begin_with_scaling() {
  if (of_.steps) values_.emplace(*of_.matrix, scaling_).take(*context_.matrix);
  weigh_rows();
}

void ScaledContext::weigh_rows() {
  DistributedMatrix& scaled = *context_.matrix;
  scaled.row_sizes = {std::make_shared<const RowSizes>(
                          weights_of_rows(*of_.matrix, scaling_, of_.spec.solver.norm)),
                      scaled.values_version};
}

bool ScaledContext::follow_step(Steps::Change change, const std::function<void()>& give_up) {
  if (change == Steps::Change::rhs_only) return false;
  if (change == Steps::Change::values && values_->take(*context_.matrix)) {
    weigh_rows();
    return false;
  }
  // What the cache has is of the first values.
  Scaled found = scaled({.most_on_rank_zero = of_.matching.most_on_rank_zero});
  collectively(found.matrix->comm, [&] {
    if (const std::string why = trireme::why_singular(*found.matrix, found.scaling); !why.empty())
      fail(ExitCode::breakdown, "breakdown: {}", why);
  });
  give_up();
  scaling_ = std::move(found.scaling);
  *context_.matrix = std::move(*found.matrix);
  begin_with_scaling();
  return true;
}

std::string ScaledContext::why_singular() const {
  return trireme::why_singular(*context_.matrix, scaling_);
}

std::vector<std::string> ScaledContext::notes() const {
  std::vector<std::string> notes;
  if (context_.spec.solver.scaling != Scaling::matching) return notes;
  if (scaling_.symmetric)
    notes.emplace_back(
        "scaling: matching leaves the columns of a symmetric matrix in their places");
  if (!scaling_.origin.empty())
    notes.push_back(fmt::format("scaling: the matching is that of {}", scaling_.origin));
  if (scaling_.matched == Matched::whole) return notes;
  notes.emplace_back(
      "scaling: matching matched the rows and columns of each rank by themselves, because rank 0 "
      "cannot take the whole matrix");
  if (scaling_.unmatched_rows > 0)
    notes.back() += fmt::format("; this leaves {} rows unmatched, such as row {} (from 0)",
                                scaling_.unmatched_rows, scaling_.first_unmatched);
  return notes;
}

}  // namespace trireme
