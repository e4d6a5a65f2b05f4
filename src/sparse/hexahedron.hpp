// SPDX-License-Identifier: BSD-3-Clause
// The stiffness matrix of one trilinear brick element of linear isotropic elasticity.
#pragma once

#include <array>

namespace trireme {

// Unit cube, Young's modulus 1, Poisson's ratio 0.3, 2 x 2 x 2 Gauss points (exact for a cube).
// Node a sits at corner (a & 1, a >> 1 & 1, a >> 2 & 1); unknown 3 a + i is its displacement along
// axis i. Exactly symmetric; its six zero modes are the rigid motions.
using ElementStiffness = std::array<std::array<double, 24>, 24>;
ElementStiffness hexahedron_stiffness();

}  // namespace trireme
