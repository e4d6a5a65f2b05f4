// SPDX-License-Identifier: BSD-3-Clause
// Finite differences on a square or cube of n points per side, with Dirichlet values 0 outside.
#include <array>

#include "sparse/stencil.hpp"

namespace trireme {
namespace {

// One value on the diagonal, and -1 for every neighbour.
class Poisson final : public Stencil {
 public:
  Poisson(std::int64_t n, int dimensions, Reach reach, double diagonal)
      : Stencil(n, dimensions, reach), diagonal_(diagonal) {}

  void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                   double* values) const override {
    for (std::size_t k = 0; k < columns.size(); ++k) values[k] = columns[k] == row ? diagonal_ : -1;
  }

 private:
  double diagonal_;
};

// h^2 (-laplace u + v . grad u) on the unit cube with h = 1/(n+1) and v = (100, 50, 25). The
// differences are first-order upwind: the neighbour from which the flow comes has a larger weight.
// The matrix is a nonsymmetric M-matrix.
class Convection final : public Stencil {
 public:
  explicit Convection(std::int64_t n) : Stencil(n, 3, Reach::star) {
    const double h = 1.0 / static_cast<double>(n + 1);
    for (std::size_t axis = 0; axis < 3; ++axis) inflow_[axis] = kVelocity[axis] * h;
  }

  void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                   double* values) const override {
    for (std::size_t k = 0; k < columns.size(); ++k) values[k] = value(columns[k] - row);
  }

 private:
  static constexpr std::array<double, 3> kVelocity = {100, 50, 25};

  double value(std::int64_t distance) const {
    if (distance == 0) return 6 + inflow_[0] + inflow_[1] + inflow_[2];
    if (distance > 0) return -1;
    if (distance == -1) return -1 - inflow_[0];
    return -1 - (distance == -n_ ? inflow_[1] : inflow_[2]);
  }

  std::array<double, 3> inflow_{};
};

}  // namespace

std::unique_ptr<RowSource> make_poisson2d(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<Poisson>(spec.n, 2, Reach::star, 4);
}

std::unique_ptr<RowSource> make_poisson3d(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<Poisson>(spec.n, 3, Reach::star, 6);
}

std::unique_ptr<RowSource> make_poisson27(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<Poisson>(spec.n, 3, Reach::box, 26);
}

std::unique_ptr<RowSource> make_convection3d(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<Convection>(spec.n);
}

}  // namespace trireme
