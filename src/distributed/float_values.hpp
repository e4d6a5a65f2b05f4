// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix may be stored with its values rounded to FP32, and whether that changes it.
#pragma once

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"

namespace trireme {

// True where every value is an FP32 number already, so that rounding changes nothing. Throws
// Error{input} where FP32's range does not hold the matrix: a value beyond 3.4e38, or a row whose
// largest value is below 1.2e-38 and would lose digits or vanish. Collective, the same on every
// rank.
bool float_values_are_exact(const DistributedMatrix& matrix);

// What rounding takes from the sum of each row, A 1 - A32 1, by the local block and, unless null,
// the ghost block.
Array<float> row_defect(const CsrMatrix<double>& local, const CsrMatrix<double>* ghost);

}  // namespace trireme
