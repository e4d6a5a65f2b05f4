// SPDX-License-Identifier: BSD-3-Clause
// The stiffness matrix of one trilinear brick element of linear isotropic elasticity.
#pragma once

#include <array>

namespace trireme {

// The element is the unit cube with Young's modulus 1 and Poisson's ratio 0.3, integrated with 2 x
// 2 x 2 Gauss points, which is exact for a cube. Node a lies at the corner (a & 1, a >> 1 & 1, a >>
// 2 & 1). Unknown 3 a + i is its displacement along axis i. The matrix is exactly symmetric, and
// its six zero modes are the rigid motions.
using ElementStiffness = std::array<std::array<double, 24>, 24>;
ElementStiffness hexahedron_stiffness();

}  // namespace trireme
