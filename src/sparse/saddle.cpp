// SPDX-License-Identifier: BSD-3-Clause
// Darcy flow through n x n cells with mixed finite elements of lowest order (Raviart and Thomas
// 1977): a u + grad p = 0, div u = f, p = 0 on the border, with one random resistance a per cell.
//
//   [ K  B^T ]   unknowns: fluxes through the (n+1) n vertical faces, through the n (n+1)
//   [ B   0  ]   horizontal faces, then the pressures of the n^2 cells
//
// K is the mass matrix of the fluxes, with 3 nonzeros per row; B is the divergence, with 4. The
// matrix is symmetric, indefinite and not singular.
#include <array>
#include <cmath>

#include "sparse/counter_random.hpp"
#include "sparse/row_source.hpp"

namespace trireme {
namespace {

class Saddle final : public RowSource {
 public:
  Saddle(std::int64_t n, std::uint64_t seed) : n_(n), faces_(n * (n + 1)), seed_(seed) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    for_each_entry(row, [&](std::int64_t column, double) { columns.push_back(column); });
  }
  void fill_values(std::int64_t row, std::span<const std::int64_t>, double* values) const override {
    for_each_entry(row, [&](std::int64_t, double value) { *values++ = value; });
  }

 private:
  // Calls visit(column, value) in the order of the columns.
  template <class Visit>
  void for_each_entry(std::int64_t row, Visit&& visit) const {
    if (row >= 2 * faces_) {
      const std::int64_t x = (row - 2 * faces_) % n_, y = (row - 2 * faces_) / n_;
      visit(vertical_face(x, y), -1.0);
      visit(vertical_face(x + 1, y), 1.0);
      visit(horizontal_face(x, y), -1.0);
      visit(horizontal_face(x, y + 1), 1.0);
    } else if (row < faces_) {
      const std::int64_t x = row % (n_ + 1), y = row / (n_ + 1);
      visit_flux(row, 1, x > 0 ? cell(x - 1, y) : -1, x < n_ ? cell(x, y) : -1, visit);
    } else {
      const std::int64_t x = (row - faces_) % n_, y = (row - faces_) / n_;
      visit_flux(row, n_, y > 0 ? cell(x, y - 1) : -1, y < n_ ? cell(x, y) : -1, visit);
    }
  }
  // A face between two cells, one of which is -1 at the border. The faces on their other sides have
  // numbers that differ by `step`.
  template <class Visit>
  void visit_flux(std::int64_t row, std::int64_t step, std::int64_t before, std::int64_t after,
                  Visit&& visit) const {
    const double a = before < 0 ? 0 : resistance(before), b = after < 0 ? 0 : resistance(after);
    if (before >= 0) visit(row - step, a / 6);
    visit(row, (a + b) / 3);
    if (after >= 0) visit(row + step, b / 6);
    if (before >= 0) visit(2 * faces_ + before, 1.0);
    if (after >= 0) visit(2 * faces_ + after, -1.0);
  }

  std::int64_t cell(std::int64_t x, std::int64_t y) const { return x + n_ * y; }
  std::int64_t vertical_face(std::int64_t x, std::int64_t y) const { return x + (n_ + 1) * y; }
  std::int64_t horizontal_face(std::int64_t x, std::int64_t y) const { return faces_ + x + n_ * y; }
  // From 0.1 to 10.
  double resistance(std::int64_t of_cell) const {
    CounterRandom random(seed_, Purpose::values, static_cast<std::uint64_t>(of_cell));
    return std::pow(10.0, 2 * random.uniform() - 1);
  }

  std::int64_t n_, faces_;  // faces_: of either direction
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<RowSource> make_saddle(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<Saddle>(spec.n, spec.seed);
}

}  // namespace trireme
