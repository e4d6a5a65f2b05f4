// SPDX-License-Identifier: BSD-3-Clause
// The product of a DASP layout with several vectors.
#pragma once

#include "kernels/dasp/product.cuh"
#include "kernels/kernel.hpp"

namespace trireme::dasp {

// The widest strip (strips.cu): each task of a long row needs this many partial sums.
inline constexpr std::int64_t kMaxStrip = 32;

// FP16 has no such product: X in FP16 is for preconditioners, which multiply one vector.
template <class Vector>
inline constexpr bool kMultipliesVectors = !std::is_same_v<Vector, Half>;

// Y = A X or Y += A X for any number of vectors side by side. Of `product`, everything but x, y and
// dot_partials is used; partials has kMaxStrip numbers per task of long rows.
template <class Stored, class Vector>
void multiply_strips(const Product<Stored, Vector>& product, DeviceMultiVector<const Vector> x,
                     DeviceMultiVector<Vector> y, Accumulate accumulate, StreamRef stream);

}  // namespace trireme::dasp
