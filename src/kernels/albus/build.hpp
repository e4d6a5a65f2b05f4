// SPDX-License-Identifier: BSD-3-Clause
// Builds the ALBUS layout on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/albus/layout.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme::albus {

// Cuts the nonzeros into `parts` equal shares and finds the rows that begin in each share. The
// windows of the result are empty.
std::vector<Part> partition(std::span<const std::int32_t> row_ptr, std::int64_t parts);

// Takes O(nnz) time; one OpenMP thread builds one part. `parts` is at least 1. Any number of
// threads may multiply by the result. The timed steps are appended to `steps`. The pattern borrows
// the arrays of `matrix`, whose values are not read. Value, the type of the vectors: double, float,
// std::int32_t.
template <class Value>
Pattern build(const CsrView<Value>& matrix, std::int64_t parts, std::vector<BuildStep>& steps);

// Copies layout.values to the places of the tiles, which new values need.
template <class Value>
void place_values(Layout<Value>& layout);

}  // namespace trireme::albus
