// SPDX-License-Identifier: BSD-3-Clause
// The sizes that the arguments of a block solve must have.
#include "solvers/block_solver.hpp"

#include "base/error.hpp"

namespace trireme::solvers {

void require_block(std::int64_t rows, MultiVector<const double> b, MultiVector<const double> x,
                   std::size_t observers, std::size_t tolerances) {
  const auto fits = [&](std::size_t size) {
    return size == 0 || size == static_cast<std::size_t>(b.width);
  };
  if (b.rows == rows && x.rows == rows && x.width == b.width && fits(observers) && fits(tolerances))
    return;
  fail(ExitCode::internal,
       "a block solver of {} rows was given {} right-hand sides of {} rows, {} solutions of {} "
       "rows, {} observers and {} tolerances",
       rows, b.width, b.rows, x.width, x.rows, observers, tolerances);
}

}  // namespace trireme::solvers
