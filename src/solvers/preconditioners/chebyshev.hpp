// SPDX-License-Identifier: BSD-3-Clause
// A polynomial of Jacobi: Chebyshev iteration for D^-1 A z = D^-1 r from z = 0 (Saad, Iterative
// Methods, algorithm 12.1). Symmetric, so CG and MINRES can use it; every application costs
// `degree` products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "solvers/preconditioners/jacobi.hpp"
#include "solvers/preconditioners/lanczos_bounds.hpp"

namespace trireme::solvers {

// d = D^-1 r / theta, z = d
template <class T>
struct ChebyshevStart {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const T* r;
  T* z;
  T* d;
  DiagonalOf<T> inverse;
  double theta;

  struct Row {
    double r, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State&, double*) const { row.r *= row.inverse / theta; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    z[i] = d[i] = static_cast<T>(row.r);
  }
};

// d = f d + g D^-1 (r - A z), z += d
template <class T>
struct ChebyshevStep {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const T* r;
  const T* az;
  T* z;
  T* d;
  DiagonalOf<T> inverse;
  double f, g;

  struct Row {
    double r, az, z, d, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], az[i], z[i], d[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State&, double*) const {
    row.d = f * row.d + g * row.inverse * (row.r - row.az);
    row.z += row.d;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    z[i] = static_cast<T>(row.z);
    d[i] = static_cast<T>(row.d);
  }
};

struct Chebyshev {
  static constexpr PreconditionerInfo info{
      .names = {{{"trireme_chebyshev", "trireme_chebyshev", "", "for symmetric matrices"}}},
      .summary = "Chebyshev polynomial of Jacobi",
      .data = PreconditionerData::diagonal,
      .parameter = {"-pc_trireme_degree", "products with A per application", 4, 1, 100,
                    &PreconditionerSpec::degree},
      .memory = {},
      // Measured on one CPU: degree 4 takes 0.24 of the iterations of Jacobi, and four products and
      // their passes more per iteration. The bounds of the spectrum take 20 iterations.
      .expected = ExpectedCost{.rate_of_jacobi = 4.2,
                               .set_up = {.products = 20, .passes = 20},
                               .iteration = {.products = 4, .passes = 1.6}},
      .exchanges = true,
      .near_nullspace = false,
      .symmetric = true,
      .sets_up_together = true};
  static constexpr bool pointwise = false;
  static constexpr bool takes_floats = true;
  static constexpr int work_vectors = 2;
  using Prepared = Chebyshev;

  Diagonal inverse_diagonal;
  const float* in_fp32 = nullptr;  // as in Jacobi
  std::int32_t degree = 0;
  double low = 0, high = 0;  // the interval that holds the spectrum of D^-1 A
  // Vectors in FP32 are the first half of one of these.
  double* direction = nullptr;
  double* product = nullptr;

  // A run of Jacobi-CG finds the interval: from the smallest Ritz value, but at least a 30th of
  // the upper end, to the largest times 1.1, the margin for what the run has not yet found. Throws
  // Error{input} for a matrix or a diagonal that is not positive definite.
  template <class Setup>
  static Chebyshev prepare(Setup& setup, const PreconditionerSpec& spec) {
    if (spec.degree < 1 || spec.degree > 100)
      throw Error(ExitCode::usage, "the Chebyshev polynomial has a degree of 1 to 100, not " +
                                       std::to_string(spec.degree));
    const Jacobi jacobi = Jacobi::prepare(setup, spec);
    const LanczosBounds bounds = setup.bounds_by_cg(jacobi, spec);
    if (!bounds.are_known())
      throw Error(
          ExitCode::input,
          spec.magnitudes
              ? "with minres, the Chebyshev polynomial needs a positive definite matrix; use "
                "preconditioner jacobi"
              : "the Chebyshev polynomial needs a definite matrix; use preconditioner "
                "jacobi, with method minres where the matrix is indefinite");
    Chebyshev m;
    m.inverse_diagonal = jacobi.inverse_diagonal;
    m.degree = spec.degree;
    m.high = 1.1 * bounds.largest();
    m.low = std::max(bounds.smallest(), m.high / 30);
    m.direction = setup.preconditioner_vector(0);
    m.product = setup.preconditioner_vector(1);
    return m;
  }

  // The same polynomial with other work vectors.
  template <class Work>
  Chebyshev with(const Work& work) const {
    Chebyshev m = *this;
    m.direction = work(0);
    m.product = work(1);
    return m;
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class T>
  TRIREME_HD void apply(Exec& e, const T* r, T* z) const {
    T* const d = reinterpret_cast<T*>(direction);
    T* const az = reinterpret_cast<T*>(product);
    const DiagonalOf<T> inverse = inverse_diagonal_of<T>(*this);
    const double theta = 0.5 * (high + low);
    const double delta = 0.5 * (high - low);
    const double sigma = theta / delta;
    double rho = 1 / sigma;
    e.pass(ChebyshevStart<T>{r, z, d, inverse, theta});
    for (int k = 0; k < degree; ++k) {
      const double next = 1 / (2 * sigma - rho);
      e.product(z, az);
      e.pass(ChebyshevStep<T>{r, az, z, d, inverse, next * rho, 2 * next / delta});
      rho = next;
    }
  }
};

}  // namespace trireme::solvers
