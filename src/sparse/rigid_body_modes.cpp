// SPDX-License-Identifier: BSD-3-Clause
// Fills the columns node by node.
#include "sparse/rigid_body_modes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace trireme {

Centred centred(std::span<const double> low, std::span<const double> high) {
  Centred box;
  double longest = 0;
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    box.centre.push_back(low[axis] / 2 + high[axis] / 2);
    longest = std::max(longest, high[axis] / 2 - low[axis] / 2);
  }
  if (longest > 0) box.length = longest;
  return box;
}

Modes rigid_body_modes(std::span<const Array<double>> coordinates, const Centred& box) {
  const std::size_t dimension = coordinates.size();
  const std::size_t width = dimension == 2 ? 3 : 6;
  const std::size_t nodes = coordinates.front().size();
  Modes modes{.values = Array<double>(nodes * dimension * width),
              .width = static_cast<std::int32_t>(width),
              .block_size = static_cast<std::int32_t>(dimension)};
#pragma omp parallel for schedule(static)
  for (std::size_t node = 0; node < nodes; ++node) {
    std::array<double, 3> at{};
    for (std::size_t axis = 0; axis < dimension; ++axis)
      at[axis] = (coordinates[axis][node] - box.centre[axis]) / box.length;
    double* const rows = modes.values.data() + node * dimension * width;
    std::fill_n(rows, dimension * width, 0.0);
    for (std::size_t axis = 0; axis < dimension; ++axis) rows[axis * width + axis] = 1;
    const auto rotate = [&](std::size_t column, std::size_t from, std::size_t to) {
      rows[from * width + column] = -at[to];
      rows[to * width + column] = at[from];
    };
    if (dimension == 2) {
      rotate(2, 0, 1);
    } else {
      rotate(3, 1, 2);
      rotate(4, 2, 0);
      rotate(5, 0, 1);
    }
  }
  return modes;
}

}  // namespace trireme
