// SPDX-License-Identifier: BSD-3-Clause
// Gathers the numbers of all ranks everywhere.
#include "app/system/moved_rows.hpp"

#include <cstddef>

#include "parallel/collective.hpp"

namespace trireme {

Array<double> moved_rows(MPI_Comm comm, const Array<double>& numbers, std::int64_t width,
                         const std::vector<std::int64_t>& from,
                         const std::vector<std::int64_t>& to) {
  if (from == to || width == 0) return numbers;
  std::vector<int> counts, starts(from.begin(), from.end() - 1);
  for (std::size_t r = 0; r + 1 < from.size(); ++r)
    counts.push_back(static_cast<int>(from[r + 1] - from[r]));
  MPI_Datatype row = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(width), MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  const int rank = rank_of(comm);
  Array<double> whole(from.back() * width);
  MPI_Allgatherv(numbers.data(), counts[rank], row, whole.data(), counts.data(), starts.data(), row,
                 comm);
  MPI_Type_free(&row);
  return {whole.begin() + to[rank] * width, whole.begin() + to[rank + 1] * width};
}

}  // namespace trireme
