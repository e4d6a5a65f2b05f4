// SPDX-License-Identifier: BSD-3-Clause
// Records that travel to the ranks that each of them names.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

// The rank that owns row `row`, of which rank r has starts[r] .. starts[r+1]-1.
inline int owner_of(std::span<const std::int64_t> starts, std::int64_t row) {
  return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), row) - starts.begin()) - 1;
}

template <class T>
struct Received {
  Array<T> values;          // of the records of rank 0 first, in the order in which they were sent
  std::vector<int> counts;  // records by the rank that has sent them
};

// Record k is values[k * width] .. values[(k+1) * width - 1] and goes to rank to[k]. Collective.
template <class T>
Received<T> send_to_ranks(MPI_Comm comm, std::span<const T> values, std::int64_t width,
                          std::span<const int> to) {
  const int ranks = size_of(comm);
  std::vector<int> counts(ranks), starts(ranks), from(ranks);
  for (const int rank : to) ++counts[rank];
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  Array<T> packed(to.size() * width);
  std::vector<int> next = starts;
  for (std::size_t k = 0; k < to.size(); ++k)
    std::copy_n(values.data() + k * width, width, packed.data() + next[to[k]]++ * width);
  Received<T> received;
  received.counts.resize(ranks);
  MPI_Alltoall(counts.data(), 1, MPI_INT, received.counts.data(), 1, MPI_INT, comm);
  std::exclusive_scan(received.counts.begin(), received.counts.end(), from.begin(), 0);
  received.values.resize((std::int64_t{from.back()} + received.counts.back()) * width);
  MPI_Datatype record = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(width * sizeof(T)), MPI_BYTE, &record);
  MPI_Type_commit(&record);
  MPI_Alltoallv(packed.data(), counts.data(), starts.data(), record, received.values.data(),
                received.counts.data(), from.data(), record, comm);
  MPI_Type_free(&record);
  return received;
}

}  // namespace trireme::multigrid
