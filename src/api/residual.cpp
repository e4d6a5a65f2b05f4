// SPDX-License-Identifier: BSD-3-Clause
#include "api/residual.hpp"

#include <cmath>

#include "base/array.hpp"
#include "distributed/row_sizes.hpp"

namespace trireme::api {

double norm(std::span<const double> v) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::size_t i = 0; i < v.size(); ++i) sum += v[i] * v[i];
  return std::sqrt(sum);
}

Residual residual(const DistributedMatrix& matrix, std::span<const double> b,
                  std::span<const double> x) {
  const CsrView<double> a = matrix.blocks.local.view();
  Array<double> r(b.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      sum += a.values[k] * x[a.col_idx[k]];
    r[i] = b[i] - sum;
  }
  Residual result{.norm = norm(r)};
  const RowSizes& sizes = row_sizes(matrix);
  if (!sizes.differ) return result;
  Array<double> of_b(b.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    r[i] *= sizes.inverse[i];
    of_b[i] = sizes.inverse[i] * b[i];
  }
  if (const double scale = norm(of_b); scale > 0) result.of_rows = norm(r) / scale;
  return result;
}

}  // namespace trireme::api
