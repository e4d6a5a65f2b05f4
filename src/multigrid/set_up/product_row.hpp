// SPDX-License-Identifier: BSD-3-Clause
// A row of the product of two sparse matrices, as a functor of make_rows.hpp.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

// Plain pointers of a matrix in the memory of a host or of a device.
struct MatrixPointers {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;

  template <class Matrix>
  explicit MatrixPointers(const Matrix& a)
      : row_ptr(a.row_ptr.data()), col_idx(a.col_idx.data()), values(a.values.data()) {}
};

// Adds up row i of A B, where the rows of B consist of runs, none of which comes twice in a row.
template <int kWidth>
struct ProductRow {
  static constexpr bool kOwners = false;
  static constexpr std::int32_t kShortRow = 8;  // runs of a row of B that lanes read in one go
  MatrixPointers a, b;
  bool diagonal;
  std::int64_t typical = 1;  // runs per row of B

  template <class Sums>
  TRIREME_HD void operator()(std::int64_t i, Sums& sums) const {
    if constexpr (Sums::kOrdered)
      add(a.row_ptr[i], a.row_ptr[i + 1], sums);
    else
      gather(a.row_ptr[i], a.row_ptr[i + 1], sums);
    if (diagonal && sums.lane() == 0) sums.insert(static_cast<std::int32_t>(i) / kWidth);
  }

  // Inserts the columns that the entries k of A from `first` to `end` lead to.
  template <class Sums>
  TRIREME_HD void gather(std::int32_t first, std::int32_t end, Sums& sums) const {
    const bool by_entries = sums.by_entries();
    const std::int32_t lane = sums.lane(), lanes = sums.lanes();
    for (std::int32_t k = first + (by_entries ? lane : 0); k < end; k += by_entries ? lanes : 1) {
      const std::int32_t j = a.col_idx[k];
      for (std::int32_t l = b.row_ptr[j] + (by_entries ? 0 : lane * kWidth); l < b.row_ptr[j + 1];
           l += (by_entries ? 1 : lanes) * kWidth) {
        sums.insert(b.col_idx[l] / kWidth);
        if (sums.is_full()) return;
      }
    }
  }

  // Adds the terms of those entries.
  template <class Sums>
  TRIREME_HD void add(std::int32_t first, std::int32_t end, Sums& sums) const {
    if (sums.lanes() > 1 && typical > kShortRow)
      add_ahead(first, end, sums);
    else
      add_in_turn(first, end, sums);
  }
  template <class Sums>
  TRIREME_HD void add_in_turn(std::int32_t first, std::int32_t end, Sums& sums) const {
    for (std::int32_t k = first; k < end; ++k) {
      const std::int32_t j = a.col_idx[k];
      const double factor = a.values[k];
      for (std::int32_t l = b.row_ptr[j] + sums.lane() * kWidth; l < b.row_ptr[j + 1];
           l += sums.lanes() * kWidth) {
        double* const run = sums.at(b.col_idx[l] / kWidth);
        for (int c = 0; c < kWidth; ++c) run[c] += factor * b.values[l + c];
      }
      sums.next();
    }
  }
  // For longer rows of B: a lane reads an entry of A, and tells the others where its row of B lies.
  // A run of the next row of B is read before that of the last one is added.
  template <class Sums>
  TRIREME_HD void add_ahead(std::int32_t first, std::int32_t end, Sums& sums) const {
    const std::int32_t lane = sums.lane(), lanes = sums.lanes();
    for (std::int32_t base = first; base < end; base += lanes) {
      const std::int32_t k = base + lane, entries = end - base < lanes ? end - base : lanes;
      std::int32_t own_first = 0, own_end = 0;
      double own_factor = 0;
      if (k < end) {
        const std::int32_t j = a.col_idx[k];
        own_first = b.row_ptr[j];
        own_end = b.row_ptr[j + 1];
        own_factor = a.values[k];
      }
      Run next = read(sums.from(own_first, 0) + lane * kWidth, sums.from(own_end, 0));
      for (std::int32_t entry = 0; entry < entries; ++entry) {
        const std::int32_t row_end = sums.from(own_end, entry);
        const double factor = sums.from(own_factor, entry);
        std::int32_t l = sums.from(own_first, entry) + lane * kWidth;
        Run run = next;
        if (entry + 1 < entries)
          next =
              read(sums.from(own_first, entry + 1) + lane * kWidth, sums.from(own_end, entry + 1));
        while (l < row_end) {
          double* const sum = sums.at(run.column / kWidth);
          for (int c = 0; c < kWidth; ++c) sum[c] += factor * run.values[c];
          l += lanes * kWidth;
          run = read(l, row_end);
        }
        sums.next();
      }
    }
  }

  struct Run {
    std::int32_t column;
    double values[kWidth];
  };
  TRIREME_HD Run read(std::int32_t l, std::int32_t end) const {
    Run run{};
    if (l < end) {
      run.column = b.col_idx[l];
      for (int c = 0; c < kWidth; ++c) run.values[c] = b.values[l + c];
    }
    return run;
  }
  TRIREME_HD std::int64_t terms(std::int64_t i) const {
    return (a.row_ptr[i + 1] - a.row_ptr[i]) * typical;
  }
};

}  // namespace trireme::multigrid
