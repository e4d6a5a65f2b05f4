// SPDX-License-Identifier: BSD-3-Clause
// A random test of symmetry.
#include "multigrid/set_up/symmetry.hpp"

#include <cmath>

#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "multigrid/set_up/dot.hpp"

namespace trireme::multigrid {
namespace {

// Far above the rounding of the sums, and below what an entry that is not symmetric brings about.
constexpr double kTolerance = 1e-10;

Array<double> random_vector(const DistributedMatrix& a, std::uint64_t seed) {
  Array<double> x(a.local_rows());
  for (std::int64_t i = 0; i < a.local_rows(); ++i)
    x[i] = to_unit(split_mix(static_cast<std::uint64_t>(a.first_row() + i), seed)) - 0.5;
  return x;
}

}  // namespace

bool is_symmetric(HostOperator& op) {
  const DistributedMatrix& a = op.matrix();
  const Array<double> x = random_vector(a, 1), y = random_vector(a, 2);
  Array<double> product(x.size());
  op.multiply_exactly(y, product);
  const double x_a_y = dot(a.comm, x, product);
  const double scale = std::sqrt(dot(a.comm, x, x) * dot(a.comm, product, product));
  op.multiply_exactly(x, product);
  return std::abs(x_a_y - dot(a.comm, y, product)) <= kTolerance * scale;
}

}  // namespace trireme::multigrid
