// SPDX-License-Identifier: BSD-3-Clause
// The coefficients of the smoothing polynomials.
#include "multigrid/cycle/smoothing.hpp"

namespace trireme::multigrid {

Smoothing chebyshev_smoothing(std::int32_t degree, double low, double high) {
  const double theta = 0.5 * (high + low), delta = 0.5 * (high - low);
  const double sigma = theta / delta;
  Smoothing s{.degree = degree};
  s.g[0] = 1 / theta;
  double rho = 1 / sigma;
  for (int k = 1; k < degree; ++k) {
    const double next = 1 / (2 * sigma - rho);
    s.f[k] = next * rho;
    s.g[k] = 2 * next / delta;
    rho = next;
  }
  return s;
}

Smoothing jacobi_smoothing(std::int32_t degree, double weight) {
  Smoothing s{.degree = degree};
  for (int k = 0; k < degree; ++k) s.g[k] = weight;
  return s;
}

}  // namespace trireme::multigrid
