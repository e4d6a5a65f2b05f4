// SPDX-License-Identifier: BSD-3-Clause
// Diffusion through n^3 cells with one random coefficient each, by finite volumes: the flux between
// two cells has the harmonic mean of their coefficients, and a face on the boundary of the cube,
// where the value is 0, has twice the coefficient of its cell. The coefficients are exp(2 g) with
// standard normal g. The smallest and the largest of a million cells differ by a factor of 10^8.
#include <cmath>
#include <numbers>

#include "sparse/counter_random.hpp"
#include "sparse/stencil.hpp"

namespace trireme {
namespace {

class Diffusion final : public Stencil {
 public:
  Diffusion(std::int64_t n, std::uint64_t seed) : Stencil(n, 3, Reach::star), seed_(seed) {}

  void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                   double* values) const override {
    const double own = coefficient(row);
    const auto neighbours = static_cast<double>(columns.size() - 1);
    double diagonal = 2 * own * (6 - neighbours);  // the faces on the boundary
    std::size_t place = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (columns[k] == row) {
        place = k;
        continue;
      }
      const double other = coefficient(columns[k]);
      const double flux = 2 * own * other / (own + other);
      values[k] = -flux;
      diagonal += flux;
    }
    values[place] = diagonal;
  }

 private:
  // The normal number is by Box and Muller (1958).
  double coefficient(std::int64_t cell) const {
    CounterRandom random(seed_, Purpose::values, static_cast<std::uint64_t>(cell));
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    return std::exp(2 * radius * std::cos(2 * std::numbers::pi * random.uniform()));
  }

  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<RowSource> make_diffusion3d(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<Diffusion>(spec.n, spec.seed);
}

}  // namespace trireme
