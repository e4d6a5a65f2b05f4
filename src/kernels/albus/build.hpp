// SPDX-License-Identifier: BSD-3-Clause
// Builds the ALBUS layout on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "kernels/albus/layout.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme::albus {

// In the last cache slices are made where they save time; beyond it they never are.
enum class Slices { never, in_last_cache };

// Cuts the nonzeros into `parts` equal shares and finds the rows that begin in each share. The
// windows of the result are empty.
std::vector<Part> partition(std::span<const std::int32_t> row_ptr, std::int64_t parts);

// Takes O(nnz) time; one OpenMP thread builds one part. `parts` is at least 1. Any number of
// threads may multiply by the result. The timed steps are appended to `steps`. The pattern borrows
// the arrays of `matrix`, whose values are not read. `slices`: where rows may lie in slices. Value,
// the type of the vectors: double, float, std::int32_t.
template <class Value>
Pattern build(const CsrView<Value>& matrix, std::int64_t parts, std::vector<BuildStep>& steps,
              Slices slices = Slices::in_last_cache);

// Finds the windows of diagonals whose rows have equal values, bit by bit, and numbers the placed
// values of all windows of a part with diagonals. `values` are in the order of the CSR.
template <class Value>
void number_values(const Pattern& pattern, const Value* values, Part& part);

// Decides where values, which are in the order of the CSR, lie in Layout::placed, and copies them
// to it. Sets first_placed of each part. Where Value is narrower than From, the values that are not
// placed, and those of tiles and slices, go to *in_order, for Layout::values; otherwise in_order is
// null. Returns whether Value represents all values exactly. Makes room for Part::block_sums where
// From, the type of the vectors, is narrower than their sums.
template <class Value, class From>
bool place_values(Pattern& pattern, std::span<const From> values, LineArray<Value>& placed,
                  Array<Value>* in_order = nullptr);

}  // namespace trireme::albus
