// SPDX-License-Identifier: BSD-3-Clause
// An unordered triangulation of a square. n x n nodes stand on a grid and are moved by up to a
// quarter of its step; each cell is cut along one of its diagonals, which is chosen at random; and
// the nodes are numbered at random.
//
// The conductance of an edge is 1 / length^2. Nodes at the border have edges to nodes outside whose
// value is 0, so that the matrix is a weighted graph Laplacian that is positive definite.
#include <array>

#include "sparse/counter_random.hpp"
#include "sparse/random_permutation.hpp"
#include "sparse/row_source.hpp"

namespace trireme {
namespace {

struct Place {
  std::int64_t x, y;
};

class Mesh final : public RowSource {
 public:
  Mesh(std::int64_t n, std::uint64_t seed) : n_(n), seed_(seed), number_(n * n, seed) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    const std::size_t begin = columns.size();
    columns.push_back(row);
    for_each_neighbour(place_of(row), [&](const Place& to) {
      if (inside(to)) columns.push_back(number_(to.x + n_ * to.y));
    });
    make_ascending(columns, begin);
  }

  void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                   double* values) const override {
    const Place at = place_of(row);
    double sum = 0;
    for_each_neighbour(at, [&](const Place& to) { sum += conductance(at, to); });
    for (std::size_t k = 0; k < columns.size(); ++k)
      values[k] = columns[k] == row ? sum : -conductance(at, place_of(columns[k]));
  }

 private:
  Place place_of(std::int64_t row) const {
    const std::int64_t place = number_.inverse(row);
    return {place % n_, place / n_};
  }
  bool inside(const Place& at) const { return at.x >= 0 && at.x < n_ && at.y >= 0 && at.y < n_; }
  // The hash of a node or of the cell to its upper right, from -1 on.
  CounterRandom random(const Place& at, Purpose purpose) const {
    return {seed_, purpose, static_cast<std::uint64_t>((at.x + 1) + (n_ + 2) * (at.y + 1))};
  }

  // Calls visit(place) for the ends of all edges at this node, also of those outside the square.
  template <class Visit>
  void for_each_neighbour(const Place& at, Visit&& visit) const {
    for (const auto& [dx, dy] :
         {std::array{-1, 0}, std::array{1, 0}, std::array{0, -1}, std::array{0, 1}})
      visit(Place{at.x + dx, at.y + dy});
    for (const int dx : {-1, 1})
      for (const int dy : {-1, 1}) {
        const Place cell{at.x + std::min(dx, 0), at.y + std::min(dy, 0)};
        const bool rising = random(cell, Purpose::splits).chance(0.5);
        if (rising == (dx == dy)) visit(Place{at.x + dx, at.y + dy});
      }
  }

  double conductance(const Place& a, const Place& b) const {
    CounterRandom of_a = random(a, Purpose::positions), of_b = random(b, Purpose::positions);
    const double dx = position(a.x, of_a) - position(b.x, of_b);
    const double dy = position(a.y, of_a) - position(b.y, of_b);
    return 1 / (dx * dx + dy * dy);
  }
  static double position(std::int64_t coordinate, CounterRandom& random) {
    return static_cast<double>(coordinate) + 0.5 * (random.uniform() - 0.5);
  }

  std::int64_t n_;
  std::uint64_t seed_;
  RandomPermutation number_;  // of a place
};

}  // namespace

std::unique_ptr<RowSource> make_mesh2d(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<Mesh>(spec.n, spec.seed);
}

}  // namespace trireme
