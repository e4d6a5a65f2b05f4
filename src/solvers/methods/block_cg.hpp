// SPDX-License-Identifier: BSD-3-Clause
// Block CG (O'Leary, Linear Algebra Appl. 29, 1980) in the form that does not break down where
// residuals become dependent (Ji and Li, Numer. Algorithms 75, 2017): each iteration searches in
// the space of the directions of all columns, of which an orthonormal basis P is kept. Dependent
// directions drop out of the basis, so that P may have fewer columns than there are right-hand
// sides.
//
//   Q = A P,  alpha = (P^T Q)^-1 P^T R,  X += P alpha,  R -= Q alpha,  Z = M^-1 R
//   beta = -(P^T Q)^-1 Q^T Z,  P = basis of (Z + P beta)
//
// A negative definite A is solved as -A: P^T Q, which is negative definite then, is negated before
// it is factored.
//
// Values moved per iteration beside the product, with k columns, in P too, and Jacobi: 19 k n, and
// 12 k^2 n operations. An iteration has four points where sums must be complete.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "solvers/methods/cg.hpp"
#include "solvers/methods/small_matrix.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// A direction is left out of the basis where it is nearer to the span of the others than this
// fraction of its length: the Gram matrix, from which the basis is made, holds squares.
inline constexpr double kDependent = 1e-6;

// From {r.z, norm term}, at the end of an iteration of all columns.
struct BlockCgImprove {
  static constexpr bool ends_iteration = true;
  void operator()(State& s, const double* sum) const {
    cg_improve(s, sum[0], sum[1], 0);
    close_iteration(s);
  }
};

// Ends the columns that are running.
struct BlockCgAbandon {
  static constexpr bool ends_iteration = false;
  Reason reason;
  void operator()(State& s, const double*) const {
    if (running(s)) abandon(s, reason);
  }
};

// Vectors of the block hold the columns that the executor works on, and become narrower when
// columns leave. Directions have as many columns as the basis, side by side without gaps.
struct BlockCg : SystemVectors {
  static constexpr MethodInfo info = [] {
    MethodInfo of_form = Cg::info;
    of_form.name = "block_cg";
    of_form.resident_only = true;
    of_form.host_only = true;
    of_form.block = true;
    of_form.remark = "cg that solves for many right-hand sides in one space";
    return of_form;
  }();
  static constexpr Variant variant = Variant::classic;
  static constexpr int vectors = 3;        // of the block
  static constexpr int basis_vectors = 2;  // at most as wide as the block

  double* r;
  double* z;  // M^-1 R
  double* ax;
  double* p;
  double* q;  // A P

  // Runs a whole solve. `e` is an executor of columns in lockstep, whose columns are all in the
  // same iteration; `tall` multiplies tall vectors by each other and by small matrices.
  template <class Exec, class Tall, class M>
  void run(Exec& e, Tall& tall, const M& m) const {
    weigh_rows(e, *this, zero_guess, ax);
    if (!zero_guess) {
      true_residual(e, *this, m, true, r, z, ax);
      e.finish(SetReference{});
    }
    true_residual(e, *this, m, zero_guess, r, z, ax);
    e.finish(CgBegin{});
    if (!e.running()) return;
    std::int64_t dimension = find_basis(e, tall);
    double sign = 0;  // of P^T Q
    while (e.running()) {
      const auto block = [&](double* vector) { return side_by_side(vector, e.rows(), e.width()); };
      const MultiVector<double> directions = side_by_side(p, e.rows(), dimension);
      const MultiVector<double> images = side_by_side(q, e.rows(), dimension);
      tall.multiply(directions, images);  // Q = A P
      tall.gram(directions, images);
      tall.gram(directions, block(r));
      const auto first_sums = tall.grams();
      if (sign == 0 && dimension > 0) sign = first_sums[0](0, 0) < 0 ? -1 : 1;
      const std::optional<SmallMatrix> factor = cholesky(scaled(sign, first_sums[0]));
      if (dimension == 0 || !factor) {
        e.finish(BlockCgAbandon{reason_to_end(first_sums[0])});
        continue;
      }
      const auto solved = [&](const SmallMatrix& of) {  // (P^T Q)^-1 of
        return solve_cholesky(*factor, scaled(sign, of));
      };
      const SmallMatrix alpha = solved(first_sums[1]);  // (P^T Q)^-1 P^T R
      tall.add(block(x), directions, alpha);            // X += P alpha
      tall.subtract(block(r), images, alpha);           // R -= Q alpha
      precondition(e, m);                               // Z = M^-1 R
      e.finish(BlockCgImprove{});
      const bool replaced = settle_claims(e, m);
      if (!e.running()) return;
      if (!replaced) {
        tall.gram(images, block(z));
        tall.subtract(block(z), directions, solved(tall.grams()[0]));  // Z - P (P^T Q)^-1 Q^T Z
      }
      dimension = find_basis(e, tall);
    }
  }

 private:
  // P = basis of Z. Returns its dimension.
  template <class Exec, class Tall>
  std::int64_t find_basis(Exec& e, Tall& tall) const {
    const MultiVector<double> all = side_by_side(z, e.rows(), e.width());
    tall.gram(all, all);
    const SmallMatrix basis = orthonormal_basis(tall.grams()[0], kDependent);
    tall.set(side_by_side(p, e.rows(), basis.cols()), all, basis);
    return basis.cols();
  }

  template <class Exec, class M>
  void precondition(Exec& e, const M& m) const {
    if constexpr (M::pointwise) {
      e.pass(TrueResidual{r, nullptr, r, z, pointwise_part(m), norm});
    } else {
      m.apply(e, r, z);
      by_weights(e, norm, [&](auto weighed) { e.pass(ResidualNorms<weighed.value>{r, z, norm}); });
    }
  }

  // Computes b - A x of the columns that claim to have converged. Returns whether some of them go
  // on: their residuals are others then, and the directions so far do not fit them.
  template <class Exec, class M>
  bool settle_claims(Exec& e, const M& m) const {
    const std::int64_t before = e.running_columns();
    if (!e.needs_true_residual()) return false;
    true_residual(e, *this, m, false, r, z, ax);
    e.finish(CgBegin{});
    return e.running_columns() > before;
  }

  // Why there are no directions, or why P^T Q is not definite.
  static Reason reason_to_end(const SmallMatrix& curvature) {
    if (curvature.rows() == 0) return Reason::breakdown;
    for (std::size_t k = 0; k < curvature.size(); ++k)
      if (!std::isfinite(curvature.data()[k])) return Reason::not_finite;
    return Reason::indefinite_matrix;
  }
};

}  // namespace trireme::solvers
