// SPDX-License-Identifier: BSD-3-Clause
// The product of a TEB layout with several vectors.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"
#include "kernels/numeric.cuh"
#include "kernels/teb/device_layout.hpp"

namespace trireme::teb {

// The widest strip (kernels/strip.cuh): each chunk of a long row needs this many sums.
inline constexpr std::int64_t kMaxStrip = 32;

// Scratch memory of a product.
template <class Vector>
struct StripScratch {
  Sum<Vector>* sums;  // kMaxStrip per chunk
  unsigned* done;     // finished chunks per long row; 0 between products
};

// Y = A X or Y += A X for any number of vectors side by side. `diagonal` is null, or in FP32 that
// of CudaKernel::add_diagonal().
template <class Stored, class Vector>
void multiply_strips(const DeviceLayout<Stored>& layout, StripScratch<Vector> scratch,
                     DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y,
                     Accumulate accumulate, const float* diagonal, StreamRef stream);

}  // namespace trireme::teb
