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

  // For groups of lanes (one_thread.hpp): each of them keeps to rows of its own.
  template <class Group>
  TRIREME_HD void operator()(std::int64_t aggregate, const Group& group) const {
    const Rows rows{q, member + first[aggregate], size, width};
    const std::int64_t count = std::int64_t{first[aggregate + 1] - first[aggregate]} * size;
    const std::int32_t rank = group.rank(), lanes = group.size();
    double* const r = coarse + aggregate * width * width;
    for (std::int32_t c = 0; c < width; ++c) {
      // Modes may be of any magnitude, so that they are scaled before they are squared.
      double largest = 0;
      for (std::int64_t t = rank; t < count; t += lanes)
        largest = std::fmax(largest, std::abs(rows(t)[c]));
      largest = group.maximum(largest);
      if (largest == 0) continue;
      for (std::int64_t t = rank; t < count; t += lanes) rows(t)[c] /= largest;
      const double before = norm(rows, count, c, group);
      for (int pass = 0; pass < 2; ++pass)
        for (std::int32_t j = 0; j < c; ++j) {
          const double dot =
              group.total(count, [&](std::int64_t t) { return rows(t)[j] * rows(t)[c]; });
          for (std::int64_t t = rank; t < count; t += lanes) rows(t)[c] -= dot * rows(t)[j];
          if (rank == 0) r[j * width + c] += dot * largest;
        }
      const double after = norm(rows, count, c, group);
      const bool independent = after > kDependent * before;
      const double factor = independent ? 1 / after : 0;
      for (std::int64_t t = rank; t < count; t += lanes) rows(t)[c] *= factor;
      if (rank == 0) r[c * width + c] = independent ? after * largest : 0;
    }
  }

 private:
  // The rows of an aggregate, in the order of its nodes.
  struct Rows {
    double* q;
    const std::int32_t* member;
    std::int32_t size, width;
    TRIREME_HD double* operator()(std::int64_t row) const {
      const auto t = static_cast<std::int32_t>(row);
      return q + (static_cast<std::int64_t>(member[t / size]) * size + t % size) * width;
    }
  };
  template <class Group>
  TRIREME_HD static double norm(const Rows& rows, std::int64_t count, std::int32_t c,
                                const Group& group) {
    return std::sqrt(group.total(count, [&](std::int64_t t) { return rows(t)[c] * rows(t)[c]; }));
  }
};

}  // namespace trireme::multigrid
