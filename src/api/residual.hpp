// SPDX-License-Identifier: BSD-3-Clause
// b - A x by plain CSR in FP64, which shares no code with the kernels: what a solve is judged by.
#pragma once

#include <optional>
#include <span>

#include "distributed/distributed_matrix.hpp"

namespace trireme::api {

struct Residual {
  double norm = 0;  // ||b - A x||
  // ||R (b - A x)|| / ||R b||, where R has one over the size of each row. None: the rows have like
  // sizes (distributed/row_sizes.hpp), or b = 0.
  std::optional<double> of_rows{};
};

Residual residual(const DistributedMatrix& matrix, std::span<const double> b,
                  std::span<const double> x);
// NaN where a number is not finite. The squares must be within the range of double.
double norm(std::span<const double> v);

}  // namespace trireme::api
