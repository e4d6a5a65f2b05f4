// SPDX-License-Identifier: BSD-3-Clause
// The diagonal of a level, and what the set-up demands of its values.
#include "multigrid/row_checks.hpp"

#include <cmath>
#include <cstdint>

#include "base/error.hpp"
#include "multigrid/host_place.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

struct ReadDiagonal {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;
  const std::int32_t* ghost_ptr;  // null without a ghost block
  const double* ghost_values;
  double* diagonal;

  // Whether the row is unfit. x - x is 0 for finite x only, and a sum with NaN is NaN.
  TRIREME_HD bool operator()(std::int64_t i) const {
    double d = 0, doubt = 0;
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col_idx[k] == i) d += values[k];
      doubt += values[k] - values[k];
    }
    if (ghost_ptr)
      for (std::int32_t k = ghost_ptr[i]; k < ghost_ptr[i + 1]; ++k)
        doubt += ghost_values[k] - ghost_values[k];
    diagonal[i] = d;
    return d == 0 || doubt != 0;
  }
};

[[noreturn]] void refuse_row(const LocalRows& a, double diagonal, std::int64_t i) {
  const std::int64_t row = a.first_row + i;
  if (diagonal == 0)
    fail(ExitCode::input,
         "multigrid needs a diagonal without zeros; that of row {} (from 0) is zero or missing",
         row);
  fail(ExitCode::input, "multigrid needs finite values; row {} (from 0) has infinity or NaN", row);
}

}  // namespace

Array<double> checked_diagonal(const LocalRows& a) {
  const std::int64_t rows = a.local.rows;
  Array<double> diagonal(rows);
  const bool ghosts = a.ghost.nnz() > 0;
  const ReadDiagonal read{a.local.row_ptr.data(), a.local.col_idx.data(),
                          a.local.values.data(),  ghosts ? a.ghost.row_ptr.data() : nullptr,
                          a.ghost.values.data(),  diagonal.data()};
  // The first unfit row has the largest number of rows from it to the end.
  const std::int64_t behind = HostPlace::maximum(
      rows, std::int64_t{0}, [&](std::int64_t i) { return read(i) ? rows - i : 0; });
  if (behind > 0) refuse_row(a, diagonal[rows - behind], rows - behind);
  return diagonal;
}

}  // namespace trireme::multigrid
