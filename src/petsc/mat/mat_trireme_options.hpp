// SPDX-License-Identifier: BSD-3-Clause
// The options -mat_trireme_kernel, -mat_trireme_device and -mat_trireme_precision of a Mat.
#pragma once

#include "petsc/mat/aij_products.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {

// What MatSetFromOptions reads: `current`, changed by the options that are given. Throws
// Error{usage} for an unknown word.
ProductSettings settings_from_options(OptionItems items, const ProductSettings& current);

// Reads, with the prefix of the Mat, the options for what neither a call nor MatSetFromOptions has
// decided. Does nothing after the first time. Throws Error{usage} for an unknown word.
void read_missing_options(Mat mat, AijProducts& products);

}  // namespace trireme
