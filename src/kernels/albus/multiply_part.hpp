// SPDX-License-Identifier: BSD-3-Clause
// The product of one part of the ALBUS layout with one vector (simd.cpp) or several, in SIMD
// instructions.
#pragma once

#include <cstdint>

#include "kernels/albus/layout.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::albus {

// Writes the rows of y that the part owns, or adds to them. Returns the part's head: its share of
// the sum of row `start - 1`, which the caller adds to y. x and y are the whole vectors. Vectors in
// FP32 are summed in FP64, and so is their head.
double multiply_part(const Layout<double>& layout, const Part& part, const double* x, double* y,
                     bool add);
double multiply_part(const Layout<float>& layout, const Part& part, const float* x, float* y,
                     bool add);
std::int32_t multiply_part(const Layout<std::int32_t>& layout, const Part& part,
                           const std::int32_t* x, std::int32_t* y, bool add);

// Mixed precision: the layout's values are in FP32; x, y and sums are in FP64.
double multiply_part(const Layout<float>& layout, const Part& part, const double* x, double* y,
                     bool add);

// The same for several vectors side by side (simd_vectors.cpp). `head` takes one number per vector,
// and is left alone where the part has no head. Unless `dots` is null, x_ij y_ij of the rows that
// the part owns is added to dots[j].
void multiply_part(const Layout<double>& layout, const Part& part, MultiVector<const double> x,
                   MultiVector<double> y, bool add, double* head, double* dots = nullptr);
void multiply_part(const Layout<float>& layout, const Part& part, MultiVector<const float> x,
                   MultiVector<float> y, bool add, double* head, float* dots = nullptr);
void multiply_part(const Layout<std::int32_t>& layout, const Part& part,
                   MultiVector<const std::int32_t> x, MultiVector<std::int32_t> y, bool add,
                   std::int32_t* head, std::int32_t* dots = nullptr);
void multiply_part(const Layout<float>& layout, const Part& part, MultiVector<const double> x,
                   MultiVector<double> y, bool add, double* head, double* dots = nullptr);

}  // namespace trireme::albus
