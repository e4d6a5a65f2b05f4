// SPDX-License-Identifier: BSD-3-Clause
// The pattern of finite differences on a square or cube of n points per side.
#pragma once

#include <cstdlib>

#include "sparse/row_source.hpp"

namespace trireme {

enum class Reach { star, box };  // neighbours along the axes only, or all of the 3^d block

class Stencil : public RowSource {
 public:
  Stencil(std::int64_t n, int dimensions, Reach reach)
      : n_(n), dimensions_(dimensions), reach_(reach) {
    const int depth = dimensions == 3 ? 1 : 0;
    for (int dz = -depth; dz <= depth; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (reach == Reach::box || std::abs(dx) + std::abs(dy) + std::abs(dz) <= 1)
            neighbours_.push_back({dx, dy, dz, dx + n * (dy + n * dz)});
  }

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    const std::int64_t x = row % n_, y = row / n_ % n_, z = row / (n_ * n_);
    const bool inside = is_inside(x, 1) && is_inside(y, 1) && is_inside(z, 1);
    for (const Neighbour& to : neighbours_)
      if (inside || (reaches(x, to.dx) && reaches(y, to.dy) && reaches(z, to.dz)))
        columns.push_back(row + to.distance);
  }

  bool knows_lengths() const override { return true; }
  std::int32_t length_of(std::int64_t row) const override {
    std::int32_t sum = 0, product = 1;
    for (int axis = 0; axis < dimensions_; ++axis, row /= n_) {
      const std::int64_t coordinate = row % n_;
      const int here = 1 + reaches(coordinate, -1) + reaches(coordinate, 1);
      sum += here - 1;
      product *= here;
    }
    return reach_ == Reach::box ? product : sum + 1;
  }

 protected:
  std::int64_t n_;

 private:
  struct Neighbour {
    int dx, dy, dz;
    std::int64_t distance;  // difference of the row numbers
  };

  bool is_inside(std::int64_t coordinate, std::int64_t margin) const {
    return coordinate >= margin && coordinate < n_ - margin;
  }
  bool reaches(std::int64_t coordinate, int step) const { return is_inside(coordinate + step, 0); }

  int dimensions_;
  Reach reach_;
  std::vector<Neighbour> neighbours_;  // ascending by distance
};

}  // namespace trireme
