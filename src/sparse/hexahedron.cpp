// SPDX-License-Identifier: BSD-3-Clause
// K(3a+i, 3b+j) = integral of lambda a,i b,j + mu a,j b,i + mu delta_ij grad a . grad b (Hughes,
// The Finite Element Method, section 2.7), where a,i is the derivative of the shape function of
// node a along axis i.
#include "sparse/hexahedron.hpp"

#include <cmath>

namespace trireme {
namespace {

using Gradients = std::array<std::array<double, 3>, 8>;  // of the shape function of each node

Gradients shape_gradients(const std::array<double, 3>& point) {
  Gradients gradients;
  for (int node = 0; node < 8; ++node)
    for (int axis = 0; axis < 3; ++axis) {
      double product = 1;
      for (int along = 0; along < 3; ++along) {
        const bool high = node >> along & 1;
        if (along == axis)
          product *= high ? 1 : -1;
        else
          product *= high ? point[along] : 1 - point[along];
      }
      gradients[node][axis] = product;
    }
  return gradients;
}

double stiffness_density(const Gradients& g, int a, int i, int b, int j) {
  constexpr double kYoung = 1, kPoisson = 0.3;
  constexpr double kLambda = kYoung * kPoisson / ((1 + kPoisson) * (1 - 2 * kPoisson));
  constexpr double kMu = kYoung / (2 * (1 + kPoisson));
  double density = kLambda * g[a][i] * g[b][j] + kMu * g[a][j] * g[b][i];
  if (i == j)
    for (int axis = 0; axis < 3; ++axis) density += kMu * g[a][axis] * g[b][axis];
  return density;
}

}  // namespace

ElementStiffness hexahedron_stiffness() {
  const double gauss[2] = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  ElementStiffness k{};
  for (int point = 0; point < 8; ++point) {
    const Gradients g =
        shape_gradients({gauss[point & 1], gauss[point >> 1 & 1], gauss[point >> 2 & 1]});
    for (int row = 0; row < 24; ++row)
      for (int col = row; col < 24; ++col)
        k[row][col] += stiffness_density(g, row / 3, row % 3, col / 3, col % 3) / 8;
  }
  for (int row = 0; row < 24; ++row)
    for (int col = 0; col < row; ++col) k[row][col] = k[col][row];
  return k;
}

}  // namespace trireme
