// SPDX-License-Identifier: BSD-3-Clause
// Mixed precision: the passes and scalar steps that make up for an inexact product. See cg.hpp.
#pragma once

#include "solvers/methods/cg_passes.hpp"

namespace trireme::solvers {

// y += defect x: what rounding its values took from the sums of a matrix's rows, given back.
struct Compensate {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const float* defect;
  const double* x;
  double* y;

  struct Row {
    double defect, x, y;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {defect[i], x[i], y[i]}; }
  TRIREME_HD void update(Row& row, const State&, double*) const { row.y += row.defect * row.x; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { y[i] = row.y; }
};

struct CompensateAndDot : Compensate {  // and sum x.y
  static constexpr int sums = 1;
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    row.y += row.defect * row.x;
    sum[0] += row.x * row.y;
  }
};

// r = b - q in place of what the loop has, z = D^-1 r, and p (unless null) changes as z does; sums
// {change.change, r.z, norm term}.
struct CorrectResidual {
  static constexpr int sums = 3;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* r;
  double* z;
  double* p;
  Diagonal inverse;
  NormTerm norm;

  struct Row {
    double r, change, p, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double exact = b[i] - q[i];
    return {exact, exact - r[i], p ? p[i] : 0, inverse[i]};
  }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    const double preconditioned = row.inverse * row.r;
    row.p += row.inverse * row.change;
    sum[0] += row.change * row.change;
    sum[1] += row.r * preconditioned;
    sum[2] += norm(row.r, preconditioned);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    z[i] = row.inverse * row.r;
    if (p) p[i] = row.p;
  }
};

// The same before a preconditioner that is not pointwise: r = b - q, q = the change of r; sum
// {change.change}.
struct ChangeResidual {
  static constexpr int sums = 1;
  static constexpr bool always = true;
  const double* b;
  double* q;
  double* r;

  struct Row {
    double r, change;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double exact = b[i] - q[i];
    return {exact, exact - r[i]};
  }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += row.change * row.change;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = row.r;
    q[i] = row.change;
  }
};

// and after it, with `change` preconditioned: z and p change by it; sums {r.z, norm term}.
struct ChangeDirection {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const double* change;
  const double* r;
  double* z;
  double* p;
  NormTerm norm;

  struct Row {
    double r, z, p;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], z[i] + change[i], p[i] + change[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    sum[0] += row.r * row.z;
    sum[1] += norm(row.r, row.z);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    z[i] = row.z;
    p[i] = row.p;
  }
};

// From {change.change, r.z, norm term} of a corrected residual.
struct CgCorrect {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const double last = s.rho;
    s.rho = sum[1];
    resume(s, chosen_norm(s, sum[1], sum[2]), sqrt(sum[0]));
    if (s.running) check_preconditioner(s, s.rho, last);
  }
};

// From {change.change, r.u, norm term, u.w} of a corrected residual: beta and alpha anew.
struct SingleReductionCorrect {
  static constexpr bool ends_iteration = true;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    s.beta *= sum[1] / s.rho;
    CgCorrect{}(s, sum);
    const double curvature = sum[3] - s.beta * s.rho / s.last_alpha;
    if (s.running) check_curvature(s, curvature);
    single_reduction_step_length(s, curvature);
  }
};

}  // namespace trireme::solvers
