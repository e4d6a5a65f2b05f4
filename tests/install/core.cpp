// SPDX-License-Identifier: BSD-3-Clause
// Solves a tridiagonal system by the installed library, without MPI and PETSc of its own.
#include <trireme/solver.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int32_t rows = 1000;
  std::vector<std::int32_t> row_ptr{0}, col_idx;
  std::vector<double> values;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= rows) continue;
      col_idx.push_back(j);
      values.push_back(i == j ? 2.5 : -1.0);
    }
    row_ptr.push_back(static_cast<std::int32_t>(values.size()));
  }
  const std::vector<double> b(rows, 1.0);
  std::vector<double> x(rows);
  try {
    trireme::api::Solver solver({.rows = rows,
                                 .cols = rows,
                                 .row_ptr = std::span<const std::int32_t>(row_ptr),
                                 .col_idx = std::span<const std::int32_t>(col_idx),
                                 .values = values});
    const trireme::api::SolveReport report = solver.solve(b, x, {.rtol = 1e-10});
    std::printf("%s, %s: x[500] = %.6f\n", report.method.c_str(), report.text.c_str(), x[500]);
    return report.converged() ? 0 : 1;
  } catch (const trireme::api::Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 2;
  }
}
