// SPDX-License-Identifier: BSD-3-Clause
// One pass over the values of both blocks.
#include "distributed/float_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using Float = std::numeric_limits<float>;

struct RowValues {
  double largest = 0;
  bool exact = true;

  void add(const CsrView<double>& block, std::int64_t row) {
    for (std::int32_t k = block.row_ptr[row]; k < block.row_ptr[row + 1]; ++k) {
      const double value = block.values[k];
      largest = std::max(largest, std::abs(value));
      exact = exact && static_cast<double>(static_cast<float>(value)) == value;
    }
  }
  bool fits() const {
    return largest == 0 || (largest >= double{Float::min()} && largest <= double{Float::max()});
  }
};

RowValues values_of(const SplitRows::Rows& part, std::int64_t row) {
  RowValues values;
  values.add(part.local, row);
  if (part.ghost.nnz() > 0) values.add(part.ghost, row);
  return values;
}

double lost_by(const CsrView<double>& block, std::int64_t row) {
  double lost = 0;
  for (std::int32_t k = block.row_ptr[row]; k < block.row_ptr[row + 1]; ++k)
    lost += block.values[k] - static_cast<double>(static_cast<float>(block.values[k]));
  return lost;
}

}  // namespace

Array<float> row_defect(const SplitRows& blocks, bool with_ghosts) {
  Array<float> defect(blocks.local.rows);
  for (const SplitRows::Rows& part : blocks.rows_by_blocks()) {
    const bool ghosts = with_ghosts && part.ghost.nnz() > 0;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < part.local.rows; ++row)
      defect[part.first_row + row] =
          static_cast<float>(lost_by(part.local, row) + (ghosts ? lost_by(part.ghost, row) : 0));
  }
  return defect;
}

bool float_range_suffices(const DistributedMatrix& matrix) {
  constexpr double kLeast = 1e-12, kMost = 1e12;
  int suffices = 1;
  for (const SplitRows::Rows& part : matrix.blocks.rows_by_blocks()) {
#pragma omp parallel for schedule(static) reduction(min : suffices)
    for (std::int64_t row = 0; row < part.local.rows; ++row) {
      const double largest = values_of(part, row).largest;
      if (largest != 0 && !(largest >= kLeast && largest <= kMost)) suffices = 0;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &suffices, 1, MPI_INT, MPI_MIN, matrix.comm);
  return suffices == 1;
}

bool float_values_are_exact(const DistributedMatrix& matrix) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t misfit = none;
  int exact = 1;
  double largest = 0;  // of the row `misfit`
  for (const SplitRows::Rows& part : matrix.blocks.rows_by_blocks()) {
    std::int64_t misfit_here = none;
#pragma omp parallel for schedule(static) reduction(min : misfit_here, exact)
    for (std::int64_t row = 0; row < part.local.rows; ++row) {
      const RowValues values = values_of(part, row);
      if (!values.fits()) misfit_here = std::min(misfit_here, row);
      exact = std::min(exact, values.exact ? 1 : 0);
    }
    if (misfit_here == none || misfit != none) continue;
    misfit = part.first_row + misfit_here;
    largest = values_of(part, misfit_here).largest;
  }
  collectively(matrix.comm, [&] {
    if (misfit == none) return;
    fail(ExitCode::input,
         "row {} (from 0) has {:.3g} as its largest value, outside the range of FP32 (1.2e-38 to "
         "3.4e38); use precision: double, or scale the system",
         matrix.callers_row(misfit), largest);
  });
  MPI_Allreduce(MPI_IN_PLACE, &exact, 1, MPI_INT, MPI_MIN, matrix.comm);
  return exact == 1;
}

}  // namespace trireme
