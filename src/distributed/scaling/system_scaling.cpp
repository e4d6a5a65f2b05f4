// SPDX-License-Identifier: BSD-3-Clause
// Finds a scaling, and applies it to vectors.
#include "distributed/scaling/system_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "distributed/matrix_look.hpp"
#include "distributed/scaling/scale_exponents.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

ScaleExponents zeros(std::int64_t rows) {
  const auto count = static_cast<std::size_t>(rows);
  return {.rows = Array<double>(count, 0.0), .columns = Array<double>(count, 0.0)};
}

Array<std::int32_t> rounded(const Array<double>& exponents) {
  Array<std::int32_t> result(exponents.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<std::int32_t>(std::lrint(exponents[i]));
  return result;
}

// What a sum over the entries says of a matrix whose entries have any size is what it says of the
// largest ones. So their logarithms, all of which have like sizes, must look symmetric too.
// Collective.
bool looks_symmetric_in_any_scale(const DistributedMatrix& matrix) {
  constexpr double kAboveAll = 2000;  // log2 of a magnitude is within (-1075, 1024)
  if (const MatrixLook& look = look_at(matrix); !look.nearly_symmetric)
    return look.symmetric_values;
  DistributedMatrix logarithms;
  collectively(matrix.comm, [&] {
    logarithms = matrix;
    logarithms.on_device.reset();
    logarithms.look = {};
    for (CsrMatrix<double>* const block : {&logarithms.blocks.local, &logarithms.blocks.ghost})
      for (double& value : block->values)
        if (value != 0) value = std::copysign(kAboveAll + std::log2(std::abs(value)), value);
  });
  return look_at(logarithms).symmetric();
}

// Collective.
void move_columns(const DistributedMatrix& matrix, const RankMatching& to, SystemScaling& scaling) {
  const bool between_ranks = to.what == Matched::whole && size_of(matrix.comm) > 1;
  const double first = between_ranks ? 0 : static_cast<double>(matrix.first_row());
  Array<std::int32_t> places;
  collectively(matrix.comm, [&] {
    places.resize(to.places.size());
    std::ranges::transform(to.places, places.begin(),
                           [&](double place) { return static_cast<std::int32_t>(place - first); });
  });
  if (between_ranks)
    scaling.moved = std::make_shared<const Redistribution>(matrix.comm, matrix.row_starts,
                                                           matrix.row_starts, std::move(places));
  else
    scaling.places = std::move(places);
}

// The exponents of a matching; the rest of it goes to `scaling`. Collective.
ScaleExponents exponents_of_matching(const DistributedMatrix& matrix, const MatchingRules& rules,
                                     SystemScaling& scaling) {
  RankMatching found = match(matrix, rules);
  scaling.matched = found.what;
  scaling.origin = found.origin;
  scaling.unmatched_rows = found.unmatched_rows;
  scaling.first_unmatched = found.first_unmatched;
  ScaleExponents exponents{.rows = std::move(found.row_log2),
                           .columns = std::move(found.column_log2)};
  if (scaling.symmetric) {
    for (std::size_t i = 0; i < exponents.rows.size(); ++i)
      exponents.rows[i] = (exponents.rows[i] + exponents.columns[i]) / 2;
    exponents.columns = exponents.rows;
  } else {
    move_columns(matrix, found, scaling);
  }
  if (found.what == Matched::whole) return exponents;
  return equilibrated(matrix, scaling.symmetric, std::move(exponents));
}

}  // namespace

SystemScaling find_scaling(Scaling kind, const DistributedMatrix& matrix,
                           const MatchingRules& rules) {
  SystemScaling scaling;
  scaling.symmetric = kind != Scaling::none && looks_symmetric_in_any_scale(matrix);
  ScaleExponents exponents = zeros(matrix.local_rows());
  if (kind == Scaling::diagonal)
    exponents = exponents_of_diagonal(matrix);
  else if (kind == Scaling::ruiz)
    exponents = equilibrated(matrix, scaling.symmetric, std::move(exponents));
  else if (kind == Scaling::matching)
    exponents = exponents_of_matching(matrix, rules, scaling);
  scaling.rows = rounded(exponents.rows);
  scaling.columns = rounded(exponents.columns);
  return scaling;
}

Array<double> SystemScaling::to_rows(std::span<const double> b, int exponent) const {
  Array<double> result(b.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < b.size(); ++i) result[i] = std::ldexp(b[i], rows[i] + exponent);
  return result;
}

Array<double> SystemScaling::to_columns(std::span<const double> x, int exponent,
                                        std::int64_t width) const {
  Array<double> result(x.size());
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const std::size_t i = places.empty() ? j : places[j];
    for (std::int64_t k = 0; k < width; ++k)
      result[i * width + k] = std::ldexp(x[j * width + k], exponent - columns[j]);
  }
  return moved ? moved->there(result, width) : result;
}

Array<double> SystemScaling::from_columns(std::span<const double> y, int exponent) const {
  Array<double> here;
  if (moved) {
    here = moved->back(y);
    y = here;
  }
  Array<double> result(y.size());
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < result.size(); ++j)
    result[j] = std::ldexp(y[places.empty() ? j : places[j]], exponent + columns[j]);
  return result;
}

}  // namespace trireme
