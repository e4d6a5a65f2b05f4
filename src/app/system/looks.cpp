// SPDX-License-Identifier: BSD-3-Clause
// One matrix, looked at twice.
#include "app/system/looks.hpp"

#include <utility>

namespace trireme {

Looks looks_of(MPI_Comm comm, RowSlab&& slab) {
  const std::int64_t rows = slab.global_rows;
  const auto matrix = distribute(comm, std::move(slab), {0, rows});
  return {look_at(*matrix), look_closer(*matrix)};
}

}  // namespace trireme
