// SPDX-License-Identifier: BSD-3-Clause
// Values of a symmetric positive definite matrix on any symmetric pattern with a full diagonal.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "sparse/counter_random.hpp"
#include "sparse/row_source.hpp"

namespace trireme {

enum class Signs { negative, both };  // of the values beside the diagonal

// a_ij is a hash of the unordered pair, with a magnitude in [0.5, 1.5). a_ii is 1.001 times the sum
// of the magnitudes of its row, and 1 in a row without other entries. With negative signs the
// matrix is a weighted graph Laplacian with a small shift.
class DominantSource : public RowSource {
 public:
  DominantSource(std::uint64_t seed, Signs signs) : seed_(seed), signs_(signs) {}

  void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                   double* values) const final {
    double sum = 0;
    std::size_t diagonal = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (columns[k] == row) {
        diagonal = k;
        continue;
      }
      values[k] =
          value(std::min<std::int64_t>(row, columns[k]), std::max<std::int64_t>(row, columns[k]));
      sum += std::abs(values[k]);
    }
    values[diagonal] = sum == 0 ? 1 : 1.001 * sum;
  }

 protected:
  std::uint64_t seed_;

 private:
  double value(std::int64_t smaller, std::int64_t larger) const {
    const std::uint64_t bits =
        CounterRandom(seed_, Purpose::values, static_cast<std::uint64_t>(smaller))
            .bits_at(static_cast<std::uint64_t>(larger));
    const double magnitude = 0.5 + to_unit(bits);
    return signs_ == Signs::both && (bits & 1) != 0 ? magnitude : -magnitude;
  }

  Signs signs_;
};

}  // namespace trireme
