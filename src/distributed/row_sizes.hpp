// SPDX-License-Identifier: BSD-3-Clause
// The sizes of the rows of a matrix, by which the test of convergence sees whether a residual is
// small in every scale that the rows have: where a few rows are huge, ||b|| is theirs alone.
#pragma once

#include <functional>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"

namespace trireme {

// Rows whose sizes differ by less than this factor have like sizes.
inline constexpr double kLikeSizes = 1e3;

struct RowSizes {
  bool differ = false;  // by kLikeSizes or more; the same on all ranks
  // One over the largest magnitude of each local row; empty unless the sizes differ. A row without
  // nonzeros counts as large as the largest one, and none as smaller than 2^-300 of it.
  Array<double> inverse;
  // In every row of all ranks, the magnitude of the diagonal entry is at least a fourth of the
  // size.
  bool diagonal_is_size = false;
};

// Of the present values, which `matrix` remembers. A GPU that has the matrix looks at its part, so
// that the host reads the values only if sizes may differ. Collective.
const RowSizes& row_sizes(const DistributedMatrix& matrix);
// The same from the largest magnitude of each local row. `diagonal` is called on every rank or on
// none. Collective.
RowSizes row_sizes(MPI_Comm comm, Array<double> sizes,
                   const std::function<Array<double>()>& diagonal);
// Of a matrix on one rank with these values in place of its own, but for diagonal_is_size. Not
// collective.
RowSizes row_sizes_alone(const CsrMatrix<double>& pattern, std::span<const double> values);

}  // namespace trireme
