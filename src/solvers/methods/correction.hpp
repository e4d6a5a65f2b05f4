// SPDX-License-Identifier: BSD-3-Clause
// Mixed precision: the passes and scalar steps that make up for an inexact product.
//
// With an inexact product (a matrix stored in FP32) the residual of the recurrence belongs to a
// neighbouring system. Whenever that residual has fallen to a 32nd of the last true one (further
// where corrections find little to correct: correct_later()), b - A x takes its place, and CG and
// BiCGSTAB go on in the same directions: a new start would cost CG its superlinear convergence.
// (Residual replacement: van der Vorst and Ye, SIAM J. Sci. Comput. 22, 2000; in mixed precision:
// Clark et al., Comput. Phys. Commun. 181, 2010.)
// The rounded matrix keeps the row sums of A: what rounding took from a row's sum is added to its
// diagonal, y += (A 1 - A32 1) x, which moves 3.5n values together with the sum of p.q. Then
// A - A32 acts on differences between neighbours only. For an M-matrix with row sums of 0 or more,
// A and the rounded matrix are spectrally equal to FP32's rounding, however ill-conditioned they
// are.
#pragma once

#include "solvers/methods/common_passes.hpp"

namespace trireme::solvers {

// y += defect x: gives back what rounding took from the sums of the matrix's rows.
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

// y += defect x; sum x.y.
struct CompensateAndDot : Compensate {
  static constexpr int sums = 1;
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    row.y += row.defect * row.x;
    sum[0] += row.x * row.y;
  }
};

// r = b - q replaces the recurrence's r, z = D^-1 r, and p (unless null) changes by as much as z;
// sums {term of the change, r.z, norm term}, where the change is that of r. Vectors in FP32 come
// into a new unit.
template <class T>
struct CorrectResidualOf {
  static constexpr int sums = 3;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  T* r;
  T* z;
  T* p;
  DiagonalOf<T> inverse;
  NormTerm norm;

  struct Row {
    double r, change, p, inverse, weight;  // FP32: change is the old r until update()
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double exact = b[i] - q[i], old = r[i];
    return {exact, kIsFloat<T> ? old : exact - old, p ? p[i] : 0, inverse[i], norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    double exact = row.r;
    if constexpr (kIsFloat<T>) {
      exact = row.r / s.unit;
      row.r = static_cast<T>(exact);
      row.change = row.r - s.rescale * row.change;
      row.p *= s.rescale;
    }
    const double preconditioned = row.inverse * row.r;
    row.p += row.inverse * row.change;
    sum[0] += norm(row.change, row.inverse * row.change, row.weight, s);
    sum[1] += row.r * preconditioned;
    sum[2] += norm(exact, preconditioned, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = static_cast<T>(row.r);
    z[i] = static_cast<T>(row.inverse * row.r);
    if (p) p[i] = static_cast<T>(row.p);
  }
};
using CorrectResidual = CorrectResidualOf<double>;

// r = b - q, and `change` becomes the change of r, for a preconditioner that is not pointwise; sums
// the term of the change. Vectors in FP32 come into a new unit; then `change` is not in the memory
// of q.
template <class T>
struct ChangeResidualOf {
  static constexpr int sums = 1;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  T* r;
  T* change;
  NormTerm norm;

  struct Row {
    double r, change, weight;  // FP32: change is the old r until update()
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const double exact = b[i] - q[i], old = r[i];
    return {exact, kIsFloat<T> ? old : exact - old, norm.rows[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    if constexpr (kIsFloat<T>) {
      row.r = static_cast<T>(row.r / s.unit);
      row.change = row.r - s.rescale * row.change;
    }
    sum[0] += norm(row.change, row.change, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    r[i] = static_cast<T>(row.r);
    change[i] = static_cast<T>(row.change);
  }
};
using ChangeResidual = ChangeResidualOf<double>;

// z += change, p += change; sums {r.z, norm term}. `change` is M^-1 times the change of r that
// ChangeResidual computed. Vectors in FP32 come into the unit of `change`.
template <class T>
struct ChangeDirectionOf {
  static constexpr int sums = 2;
  static constexpr bool always = true;
  const T* change;
  const T* r;
  T* z;
  T* p;
  NormTerm norm;

  struct Row {
    double r, z, p, change, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], z[i], p[i], change[i], norm.rows[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    if constexpr (kIsFloat<T>) {
      row.z = static_cast<T>(s.rescale * row.z + row.change);
      row.p = s.rescale * row.p + row.change;
    } else {
      row.z += row.change;
      row.p += row.change;
    }
    sum[0] += row.r * row.z;
    sum[1] += norm(row.r, row.z, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    z[i] = static_cast<T>(row.z);
    p[i] = static_cast<T>(row.p);
  }
};
using ChangeDirection = ChangeDirectionOf<double>;

}  // namespace trireme::solvers
