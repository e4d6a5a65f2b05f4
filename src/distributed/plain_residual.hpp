// SPDX-License-Identifier: BSD-3-Clause
// b - A x by plain CSR in FP64, by which solves are judged. It shares no code with the kernels and
// with the halo of the operators.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/row_sizes.hpp"

namespace trireme {

// How large b - A x is.
struct Residual {
  double norm = 0;  // ||b - A x||
  // ||R (b - A x)|| / ||R b||, where R has one over the size of each row. None: the rows have like
  // sizes (row_sizes.hpp), or b = 0.
  std::optional<double> of_rows = {};
  // The row with the largest part of it, by the number that messages name, and its size.
  std::int64_t worst_row = 0;
  double worst_size = 0;
};

// y += A x
void add_plain_product(const CsrView<double>& a, std::span<const double> x, std::span<double> y);
void add_plain_product(const CsrMatrix<double>& a, std::span<const double> x, std::span<double> y);

// The same bits for any number of threads.
double plain_dot(std::span<const double> u, std::span<const double> v);

// Above this sum, the loss by squares that underflow (below 1e-308) is negligible.
inline constexpr double kAboveUnderflow = 1e-250;
// ||v|| of this rank's part. No square underflows or overflows, whatever the scale of v. NaN where
// a number is not finite.
double plain_norm(std::span<const double> v);
// The same of the parts of all ranks. Collective.
double norm_over_ranks(MPI_Comm comm, std::span<const double> v);

// R v
Array<double> in_scale_of_rows(const RowSizes& sizes, std::span<const double> v);
// The row whose part of R r is the largest one on this rank, and in `norm` that part.
Residual worst_row_of(const DistributedMatrix& matrix, const RowSizes& sizes,
                      std::span<const double> r);

// Of r = b - A x, by the norm that is given; without the worst row.
Residual measured(const RowSizes& sizes, std::span<const double> b, std::span<const double> r,
                  const std::function<double(std::span<const double>)>& norm);

// Of a matrix on one process, with `values` in place of its own and `sizes` of these. `r` is
// memory, and becomes b - A x. Not collective.
Residual plain_residual(const DistributedMatrix& matrix, std::span<const double> values,
                        const RowSizes& sizes, std::span<const double> b, std::span<const double> x,
                        Array<double>& r);

}  // namespace trireme
