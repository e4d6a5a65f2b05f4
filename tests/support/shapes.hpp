// SPDX-License-Identifier: BSD-3-Clause
// The matrices that every kernel must multiply by: the edge shapes of the kernel contract.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/half.hpp"
#include "sparse/csr.hpp"
#include "support/random.hpp"

namespace trireme::test {

// The functions of a Value have instances for double, float, std::int32_t and Half.

template <class Value>
struct Shape {
  std::string name;
  CsrMatrix<Value> matrix;
};

enum class Columns { ascending, unsorted };

// Makes rows of the given lengths (each at most cols) with distinct random columns and random
// values.
template <class Value>
CsrMatrix<Value> matrix_with_row_lengths(const std::vector<std::int64_t>& lengths,
                                         std::int64_t cols, std::uint64_t seed = 1,
                                         Columns order = Columns::ascending);

// Draws row lengths uniformly from [shortest, longest].
std::vector<std::int64_t> random_lengths(std::int64_t rows, std::int64_t shortest,
                                         std::int64_t longest, std::uint64_t seed = 1);

// Returns each of the given lengths `rows_of_each` times, shuffled.
std::vector<std::int64_t> mixed_lengths(const std::vector<std::int64_t>& kinds,
                                        std::int64_t rows_of_each, std::uint64_t seed = 1);

// The names are CamelCase because they are parts of test names. With `only`, the shape of that name
// alone.
template <class Value>
std::vector<Shape<Value>> contract_shapes(const std::string& only = "");

// Returns the matrix of one shape, for tests that need a single matrix.
template <class Value>
CsrMatrix<Value> contract_shape(const std::string& name);

// Rounds the values to FP32. Mixed precision multiplies by this matrix, and a kernel may store it
// in FP32 without loss.
inline CsrMatrix<double> rounded_to_float(CsrMatrix<double> a) {
  for (double& value : a.values) value = static_cast<float>(value);
  return a;
}

}  // namespace trireme::test
