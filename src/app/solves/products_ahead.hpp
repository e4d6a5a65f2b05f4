// SPDX-License-Identifier: BSD-3-Clause
// How many products with the matrix a solve will take, by what is known before it begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/case.hpp"

namespace trireme {

struct ProductsAhead {
  std::int64_t count = 0;
  std::string why;  // a clause: "300 iterations per solve are assumed"
};

// Of one solve. `earlier` is the number of iterations that a solve with such a matrix and these
// settings took. Else multigrid is expected to take 15 iterations, a direct solver none, and
// anything else 300; max_iterations limits them all. The products of the cycle with the matrix
// itself count, since each of them exchanges the same halo.
ProductsAhead products_of_a_solve(const SolverSpec& solver, std::optional<std::int64_t> earlier);

}  // namespace trireme
