// SPDX-License-Identifier: BSD-3-Clause
// The image of a constant vector beside that of a vector of random signs.
#include "app/solves/constant_nullspace.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "app/solves/advice.hpp"
#include "app/solves/true_residual.hpp"
#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "distributed/matrix_look.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr double kRoundingOfSums = 1e-12;  // of a row sum, relative to a row with random signs

}  // namespace

bool explain_constant_nullspace(Verdict& verdict, const DistributedMatrix& matrix,
                                PlainProduct& product, std::span<const double> b, double target) {
  const auto rows = static_cast<double>(matrix.global_rows());
  Array<double> ones, signs, none;
  collectively(matrix.comm, [&] {
    ones.assign(b.size(), 1.0);
    none.assign(b.size(), 0.0);
    signs.resize(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
      const auto row = static_cast<std::uint64_t>(matrix.first_row()) + i;
      signs[i] = split_mix(row, 1) % 2 == 0 ? 1 : -1;
    }
  });
  const double sum = product.dot(b, ones);
  const double least_residual = std::abs(sum) / std::sqrt(rows);  // the part of b along the ones
  if (!(least_residual > target)) return false;
  const double of_signs = product.residual_norm(none, signs);
  if (!(product.residual_norm(none, ones) <= kRoundingOfSums * of_signs)) return false;
  if (!look_at(matrix).symmetric()) return false;
  const std::string why = fmt::format(
      "; the rows of the matrix add up to zero, so that it is singular, and b is outside of its "
      "range, "
      "because its components do not: no x has a residual below {:.3g} of ||b||; subtract the mean "
      "of b",
      relative(least_residual, product.norm(b)));
  add_clause(verdict, why);
  return true;
}

}  // namespace trireme
