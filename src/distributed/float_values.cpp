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

  void add(const CsrMatrix<double>& block, std::int64_t row) {
    if (block.nnz() == 0) return;
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

RowValues values_of(const SplitRows& blocks, std::int64_t row) {
  RowValues values;
  values.add(blocks.local, row);
  values.add(blocks.ghost, row);
  return values;
}

double lost_by(const CsrMatrix<double>& block, std::int64_t row) {
  if (block.nnz() == 0) return 0;
  double lost = 0;
  for (std::int32_t k = block.row_ptr[row]; k < block.row_ptr[row + 1]; ++k)
    lost += block.values[k] - static_cast<double>(static_cast<float>(block.values[k]));
  return lost;
}

}  // namespace

Array<float> row_defect(const CsrMatrix<double>& local, const CsrMatrix<double>* ghost) {
  Array<float> defect(local.rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < local.rows; ++row)
    defect[row] = static_cast<float>(lost_by(local, row) + (ghost ? lost_by(*ghost, row) : 0));
  return defect;
}

bool float_values_are_exact(const DistributedMatrix& matrix) {
  const std::int64_t rows = matrix.local_rows();
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t misfit = none;
  int exact = 1;
#pragma omp parallel for schedule(static) reduction(min : misfit, exact)
  for (std::int64_t row = 0; row < rows; ++row) {
    const RowValues values = values_of(matrix.blocks, row);
    if (!values.fits()) misfit = std::min(misfit, row);
    exact = std::min(exact, values.exact ? 1 : 0);
  }
  collectively(matrix.comm, [&] {
    if (misfit == none) return;
    fail(ExitCode::input,
         "row {} (from 0) has {:.3g} as its largest value, outside the range of FP32 (1.2e-38 to "
         "3.4e38); use precision: double, or scale the system",
         matrix.callers_row(misfit), values_of(matrix.blocks, misfit).largest);
  });
  MPI_Allreduce(MPI_IN_PLACE, &exact, 1, MPI_INT, MPI_MIN, matrix.comm);
  return exact == 1;
}

}  // namespace trireme
