// SPDX-License-Identifier: BSD-3-Clause
// Two patterns of one fingerprint.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace trireme::test {

// Row pointers and columns of a square matrix of `rows` rows, at least 100, with two nonzeros per
// row, of which one is the diagonal. Those of the two numbers differ in the columns of 24 rows, and
// have the same hash under the public key (io/hash_sums.hpp): the differences times the weights of
// their positions add up to 0 for both weights. Lattice reduction found them.
struct CollidingPattern {
  CollidingPattern(int number, std::int64_t rows) {
    static constexpr std::array kDifferences = {2, 3, 0, -5, -3, 2, 4, 1, 1,  1, 0, -1, 0, -5,
                                                5, 2, 1, -3, -1, 3, 0, 1, -1, 0, 1, -2, -1};
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool differs = row < std::ssize(kDifferences);
      if (row >= 50) columns.push_back(row - 40);
      columns.push_back(row);
      if (row < 50) columns.push_back(row + 40 + (differs ? number * kDifferences[row] : 0));
      row_ptr.push_back(std::ssize(columns));
    }
  }

  std::vector<std::int64_t> row_ptr = {0}, columns;
};

}  // namespace trireme::test
