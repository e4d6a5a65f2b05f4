// SPDX-License-Identifier: BSD-3-Clause
// Jacobi, z = D^-1 r, and no preconditioner, z = r. The passes of a method apply D^-1 themselves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/array.hpp"
#include "base/error.hpp"
#include "solvers/preconditioners/diagonal.hpp"
#include "solvers/preconditioners/spec.hpp"

namespace trireme::solvers {

struct Jacobi {
  static constexpr PreconditionerInfo info{.names = {{{"jacobi", "jacobi", "jacobi"}}},
                                           .summary = "the inverse of the diagonal",
                                           .data = PreconditionerData::diagonal,
                                           .parameter = {},
                                           .memory = {},
                                           .expected = {},
                                           .exchanges = false,
                                           .near_nullspace = false};
  static constexpr bool pointwise = true;
  static constexpr bool takes_floats = true;
  static constexpr int work_vectors = 0;
  using Prepared = Jacobi;

  Diagonal inverse_diagonal;
  const float* in_fp32 = nullptr;  // the array of inverse_diagonal for a loop with FP32 vectors

  // A zero on the diagonal counts as 1, as in PETSc's PCJACOBI. Throws Error{usage} for a diagonal
  // of another length.
  template <class Setup>
  static Jacobi prepare(Setup& setup, const PreconditionerSpec& spec) {
    if (spec.diagonal.empty() && spec.inverse_diagonal.empty()) {
      Jacobi m;
      if (setup.inverse_diagonal(m.inverse_diagonal, spec.magnitudes)) return m;
    }
    const bool inverted = !spec.inverse_diagonal.empty();
    const std::span<const double> diagonal = inverted ? spec.inverse_diagonal : spec.diagonal;
    const std::int64_t rows = setup.rows();
    if (static_cast<std::int64_t>(diagonal.size()) != rows)
      throw Error(ExitCode::usage, "Jacobi needs " + std::to_string(rows) +
                                       " diagonal entries, not " + std::to_string(diagonal.size()));
    const auto inverse = [inverted, magnitudes = spec.magnitudes](double d) {
      if (magnitudes) d = std::abs(d);
      return inverted ? d : d == 0 ? 1 : 1 / d;
    };
    Jacobi m;
    const bool constant = std::all_of(diagonal.begin(), diagonal.end(),
                                      [&](double d) { return d == diagonal.front(); });
    if (constant) {
      if (!diagonal.empty()) m.inverse_diagonal.constant = inverse(diagonal.front());
      return m;
    }
    Array<double> values(diagonal.size());
    std::transform(diagonal.begin(), diagonal.end(), values.begin(), inverse);
    m.inverse_diagonal.values = setup.keep_rows(std::move(values));
    return m;
  }
};

// No preconditioner: Jacobi with D = 1.
struct NoPreconditioner : Jacobi {
  static constexpr PreconditionerInfo info{.names = {{{"none", "none", "none"}}},
                                           .summary = "none",
                                           .data = PreconditionerData::nothing,
                                           .parameter = {},
                                           .memory = {},
                                           .expected = ExpectedCost{.rate_of_jacobi = 1},
                                           .exchanges = false,
                                           .near_nullspace = false};
  template <class Setup>
  static Jacobi prepare(Setup&, const PreconditionerSpec&) {
    return {};
  }
};

}  // namespace trireme::solvers
