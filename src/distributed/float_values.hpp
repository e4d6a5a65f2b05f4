// SPDX-License-Identifier: BSD-3-Clause
// Whether the values of a matrix may be rounded to FP32, and what rounding changes.
#pragma once

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"

namespace trireme {

// True where every value is an FP32 number, so that rounding changes nothing. The result is the
// same on every rank. Throws Error{input} where the range of FP32 does not suffice: for a value
// beyond 3.4e38, and for a row whose largest value is below 1.2e-38, which would lose digits or
// vanish. Collective.
bool float_values_are_exact(const DistributedMatrix& matrix);

// Whether a loop with FP32 vectors can have these values: the largest of each row is between 1e-12
// and 1e12, or the row is empty. The result is the same on every rank. Collective.
bool float_range_suffices(const DistributedMatrix& matrix);

// A 1 - A32 1, what rounding takes from the sum of each row, with the ghosts or without them.
Array<float> row_defect(const SplitRows& blocks, bool with_ghosts);

}  // namespace trireme
