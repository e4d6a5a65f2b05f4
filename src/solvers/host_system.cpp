// SPDX-License-Identifier: BSD-3-Clause
// Products with several vectors for a system that has only products with one vector.
#include <utility>

#include "solvers/host_solver.hpp"

namespace trireme::solvers {

template <class Product>
void HostSystem::multiply_one_by_one(MultiVector<const double> x, MultiVector<double> y,
                                     const Product& product) {
  one_x_.resize(static_cast<std::size_t>(x.rows));
  one_y_.resize(static_cast<std::size_t>(y.rows));
  for (std::int64_t j = 0; j < x.width; ++j) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < x.rows; ++i) one_x_[i] = x(i, j);
    product(std::span<const double>(one_x_), std::span<double>(one_y_));
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < y.rows; ++i) y(i, j) = one_y_[i];
  }
}

void HostSystem::multi_multiply(MultiVector<const double> x, MultiVector<double> y) {
  multiply_one_by_one(x, y, [this](auto one_x, auto one_y) { multiply(one_x, one_y); });
}

void HostSystem::multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y) {
  if (!inexact()) return multi_multiply(x, y);
  multiply_one_by_one(x, y, [this](auto one_x, auto one_y) { multiply_exactly(one_x, one_y); });
}

}  // namespace trireme::solvers
