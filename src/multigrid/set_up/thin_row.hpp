// SPDX-License-Identifier: BSD-3-Clause
// The functors that thin a prolongator (thinning.hpp).
#pragma once

#include <cstdint>

#include "multigrid/set_up/product_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

// Makes the strong entries of row i of A weak that lead to other aggregates with a small run in row
// i of P, and returns how many the lane has made weak. The row keeps the largest run and that of
// its own aggregate. For groups of lanes (one_thread.hpp).
struct ThinRow {
  MatrixPointers a, p;
  const std::int32_t* aggregate;  // by node
  std::int32_t size;              // rows per node
  std::int32_t width;             // columns per aggregate
  double least;                   // of a run's norm, relative to that of the largest run of the row
  std::uint8_t* strong;

  template <class Group>
  TRIREME_HD double operator()(std::int64_t i, const Group& group) const {
    const std::int32_t own = aggregate[i / size];
    const std::int32_t first = p.row_ptr[i] / width, end = p.row_ptr[i + 1] / width;
    double largest = 0;
    for (std::int32_t run = first + group.rank(); run < end; run += group.size()) {
      const double squares = squares_of(run);
      if (squares > largest) largest = squares;
    }
    const double bound = least * least * group.maximum(largest);
    std::int32_t dropped = 0;
    for (std::int32_t k = a.row_ptr[i] + group.rank(); k < a.row_ptr[i + 1]; k += group.size()) {
      if (!strong[k]) continue;
      const std::int32_t other = aggregate[a.col_idx[k] / size];
      if (other < 0 || other == own) continue;
      const std::int32_t run = place(first, end, other);
      if (run == end || squares_of(run) >= bound) continue;
      strong[k] = 0;
      ++dropped;
    }
    return dropped;
  }

 private:
  TRIREME_HD double squares_of(std::int32_t run) const {
    double sum = 0;
    for (std::int32_t l = run * width; l < (run + 1) * width; ++l) sum += p.values[l] * p.values[l];
    return sum;
  }
  // The run of an aggregate among those from `first` on; `end` where there is none.
  TRIREME_HD std::int32_t place(std::int32_t first, std::int32_t end, std::int32_t other) const {
    std::int32_t low = first, high = end;
    while (high > low) {
      const std::int32_t middle = low + (high - low) / 2;
      if (p.col_idx[std::int64_t{middle} * width] / width < other)
        low = middle + 1;
      else
        high = middle;
    }
    return low < end && p.col_idx[std::int64_t{low} * width] / width == other ? low : end;
  }
};

// Returns the number of runs of P to which the entries of row i of A lead, each run counted as
// often as entries lead to it.
struct RunsOfRow {
  const std::int32_t* row_ptr;  // of A
  const std::int32_t* col_idx;
  const std::int32_t* p_row_ptr;
  std::int32_t width;

  TRIREME_HD double operator()(std::int64_t i) const {
    std::int64_t entries = 0;
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      entries += p_row_ptr[col_idx[k] + 1] - p_row_ptr[col_idx[k]];
    const std::int64_t runs = entries / width;
    return static_cast<double>(runs);
  }
};

}  // namespace trireme::multigrid
