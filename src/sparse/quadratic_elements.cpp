// SPDX-License-Identifier: BSD-3-Clause
// -div(c grad u) on a square of n x n biquadratic elements (Q2) with u = 0 on its border, and one
// random coefficient c per element: highorder.
//
// The unknowns are the free nodes of a grid with two steps per element. Along each axis a node at
// the border of an element has 5 neighbours, itself included, and one in its middle has 3. The rows
// therefore have 25, 15 and 9 nonzeros (fewer at the border of the square).
#include <algorithm>
#include <array>
#include <cmath>

#include "sparse/counter_random.hpp"
#include "sparse/row_source.hpp"

namespace trireme {
namespace {

using Matrix3 = std::array<std::array<double, 3>, 3>;

// Of the quadratic element on an interval of length 1 (Hughes, The Finite Element Method, 2000,
// section 3.6): integrals of the products of the derivatives, and of the functions.
constexpr Matrix3 kStiffness = {
    {{7.0 / 3, -8.0 / 3, 1.0 / 3}, {-8.0 / 3, 16.0 / 3, -8.0 / 3}, {1.0 / 3, -8.0 / 3, 7.0 / 3}}};
constexpr Matrix3 kMass = {{{4.0 / 30, 2.0 / 30, -1.0 / 30},
                            {2.0 / 30, 16.0 / 30, 2.0 / 30},
                            {-1.0 / 30, 2.0 / 30, 4.0 / 30}}};

struct Range {
  std::int64_t first, last;  // both belong to it
};

class QuadraticElements final : public RowSource {
 public:
  QuadraticElements(std::int64_t n, std::uint64_t seed) : n_(n), side_(2 * n - 1), seed_(seed) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    const Range x = neighbours(node_x(row)), y = neighbours(node_y(row));
    for (std::int64_t j = y.first; j <= y.last; ++j)
      for (std::int64_t i = x.first; i <= x.last; ++i) columns.push_back((i - 1) + side_ * (j - 1));
  }

  void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                   double* values) const override {
    for (std::size_t k = 0; k < columns.size(); ++k)
      values[k] = value(node_x(row), node_y(row), node_x(columns[k]), node_y(columns[k]));
  }

 private:
  // Nodes are counted in half elements from the border of the square, where they are not free.
  std::int64_t node_x(std::int64_t row) const { return row % side_ + 1; }
  std::int64_t node_y(std::int64_t row) const { return row / side_ + 1; }

  // The elements that have all nodes from a to b.
  static Range elements(std::int64_t a, std::int64_t b) {
    return {(std::max(a, b) - 1) / 2, std::min(a, b) / 2};
  }
  Range neighbours(std::int64_t node) const {
    const Range of = elements(node, node);
    return {std::max<std::int64_t>(2 * of.first, 1), std::min(2 * of.last + 2, side_)};
  }

  // The sum over the elements that both nodes have, in an order that does not depend on which of
  // the nodes is which.
  double value(std::int64_t ax, std::int64_t ay, std::int64_t bx, std::int64_t by) const {
    const Range x = elements(ax, bx), y = elements(ay, by);
    double sum = 0;
    for (std::int64_t j = y.first; j <= y.last; ++j)
      for (std::int64_t i = x.first; i <= x.last; ++i) {
        const auto [kx, mx] = entries(ax - 2 * i, bx - 2 * i);
        const auto [ky, my] = entries(ay - 2 * j, by - 2 * j);
        sum += coefficient(i, j) * (kx * my + mx * ky);
      }
    return sum;
  }
  static std::array<double, 2> entries(std::int64_t a, std::int64_t b) {
    return {kStiffness[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)],
            kMass[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]};
  }
  // From 0.1 to 10.
  double coefficient(std::int64_t i, std::int64_t j) const {
    return std::pow(
        10.0, 2 * CounterRandom(seed_, Purpose::values, static_cast<std::uint64_t>(i + n_ * j))
                          .uniform() -
                  1);
  }

  std::int64_t n_, side_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<RowSource> make_highorder(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<QuadraticElements>(spec.n, spec.seed);
}

}  // namespace trireme
