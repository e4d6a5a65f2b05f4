// SPDX-License-Identifier: BSD-3-Clause
// The orthogonal factor of the near-nullspace on one aggregate.
#pragma once

#include <cmath>
#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

// A mode whose part that is independent of the modes before it is smaller than this, relative to
// its own norm on the aggregate, has none.
inline constexpr double kDependent = 1e-10;

struct OrthogonaliseModes {
  const std::int32_t* first;  // member nodes of the aggregates
  const std::int32_t* member;
  std::int32_t size, width;
  double* q;       // in: the modes; out: T
  double* coarse;  // R of each aggregate, width x width, initially 0

  TRIREME_HD void operator()(std::int64_t aggregate) const {
    double* const r = coarse + aggregate * width * width;
    for (std::int32_t c = 0; c < width; ++c) {
      // Modes may be of any magnitude, so that they are scaled before they are squared.
      double largest = 0;
      for_rows(aggregate, [&](double* row) { largest = std::fmax(largest, std::abs(row[c])); });
      if (largest == 0) continue;
      for_rows(aggregate, [&](double* row) { row[c] /= largest; });
      const double before = norm(aggregate, c);
      for (int pass = 0; pass < 2; ++pass)
        for (std::int32_t j = 0; j < c; ++j) {
          double dot = 0;
          for_rows(aggregate, [&](const double* row) { dot += row[j] * row[c]; });
          for_rows(aggregate, [&](double* row) { row[c] -= dot * row[j]; });
          r[j * width + c] += dot * largest;
        }
      const double after = norm(aggregate, c);
      const bool independent = after > kDependent * before;
      const double factor = independent ? 1 / after : 0;
      for_rows(aggregate, [&](double* row) { row[c] *= factor; });
      r[c * width + c] = independent ? after * largest : 0;
    }
  }
  template <class F>
  TRIREME_HD void for_rows(std::int64_t aggregate, const F& f) const {
    for (std::int32_t m = first[aggregate]; m < first[aggregate + 1]; ++m)
      for (std::int32_t u = 0; u < size; ++u)
        f(q + (static_cast<std::int64_t>(member[m]) * size + u) * width);
  }
  TRIREME_HD double norm(std::int64_t aggregate, std::int32_t c) const {
    double sum = 0;
    for_rows(aggregate, [&](const double* row) { sum += row[c] * row[c]; });
    return std::sqrt(sum);
  }
};

}  // namespace trireme::multigrid
