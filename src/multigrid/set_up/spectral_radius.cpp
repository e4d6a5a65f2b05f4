// SPDX-License-Identifier: BSD-3-Clause
// The spectral radius of D^-1 A_F by the Lanczos method (Saad, Iterative Methods for Sparse Linear
// Systems, 2003, section 6.6), on D^-1/2 A_F D^-1/2.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/split_mix.hpp"
#include "multigrid/set_up/filtered_row.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/lanczos_steps.hpp"

namespace trireme::multigrid {

double largest_eigenvalue(const std::vector<double>& alpha, const std::vector<double>& beta) {
  double low = alpha[0], high = alpha[0];
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    const double radius =
        (k > 0 ? std::abs(beta[k - 1]) : 0) + (k + 1 < alpha.size() ? std::abs(beta[k]) : 0);
    low = std::max(low, alpha[k]);
    high = std::max(high, alpha[k] + radius);
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = low + (high - low) / 2;
    // Whether all pivots of T - middle I are negative, so that no eigenvalue is larger.
    bool none_above = true;
    double pivot = alpha[0] - middle;
    for (std::size_t k = 1; none_above; ++k) {
      none_above = pivot < 0;
      if (k == alpha.size()) break;
      pivot = alpha[k] - middle - beta[k - 1] * beta[k - 1] / pivot;
    }
    (none_above ? high : low) = middle;
  }
  return high;
}

bool is_unfiltered(const FilteredMatrix& f, const NodeExchange& ghosts) {
  return ghosts.max(f.strong.empty() ? 0 : 1) == 0;
}

double filtered_spectral_radius(const FilteredMatrix& f, std::span<const double> diagonal,
                                const NodeExchange& ghosts) {
  const std::int64_t rows = f.a.local.rows;
  const FilteredRows a(f);
  const double bound = ghosts.max(HostPlace::maximum(
      rows, 0.0, by_one_thread<kLanesOfRow>(FilteredRowSum{a, diagonal.data()})));
  if (bound == 0 || !std::isfinite(bound)) return bound;
  const int steps = is_unfiltered(f, ghosts) ? kLanczosStepsForSmoother : kLanczosSteps;
  Array<double> scale(rows), scaled(f.a.local.cols), last(rows), now(rows), next(rows);
  const auto sum = [&](const auto& terms) { return ghosts.sum(HostPlace::sum(rows, terms)); };
  const double squared = sum(LanczosBegin{diagonal.data(), f.a.first_row, scale.data(),
                                          scaled.data(), now.data(), next.data()});
  return lanczos_radius(
      steps, bound, squared,
      [&](const LanczosScalars& scalars) {
        std::swap(last, now);
        std::swap(now, next);
        ghosts.fetch(std::span(scaled), f.block_size);
        const LanczosMultiply multiply{scale.data(), last.data(), next.data()};
        const LanczosDot dot{now.data(), next.data()};
        return sum([&](std::int64_t i) {
          multiply(i, a.product(i, scaled.data()), scalars);
          return dot(i);
        });
      },
      [&](double factor) {
        return sum(
            LanczosOrthogonalise{scale.data(), now.data(), factor, next.data(), scaled.data()});
      });
}

}  // namespace trireme::multigrid
