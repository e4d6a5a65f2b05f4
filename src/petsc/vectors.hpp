// SPDX-License-Identifier: BSD-3-Clause
// Copies of a PETSc vector's local part. A vector on a GPU is copied to the host first.
#pragma once

#include <petscvec.h>

#include <span>

#include "base/array.hpp"
#include "petsc/shim.hpp"

namespace trireme {

Array<double> local_values(Vec vec);

// The same into `values`, which has as many entries as the vector has on this rank.
void copy_local_values(Vec vec, std::span<double> values);

// `values` has as many entries as the vector has on this rank.
void set_local_values(Vec vec, std::span<const double> values);

// By all threads, where VecSet() has one.
void set_local_values_to_zero(Vec vec);

// A vector of the rows of `mat`, all zero. Its numbers are in `array`, which must outlive it: all
// threads touch the pages first, and large arrays lie in huge pages, while PETSc's own vectors are
// cleared by one thread. Where PETSc keeps the vectors of `mat` on a GPU, `array` becomes empty.
// Collective.
VecHandle vector_over(Array<double>& array, Mat mat);

// A vector of the rows of `mat` for VecPlaceArray, without an array of its own. Collective.
VecHandle vector_without_array(Mat mat);

}  // namespace trireme
