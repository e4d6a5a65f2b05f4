// SPDX-License-Identifier: BSD-3-Clause
// Errors on many ranks: agreed upon before anyone leaves, so that no rank hangs in a collective;
// and sums and maxima over them in a word.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>

#include "base/error.hpp"

namespace trireme {

// An error that a number of ranks throw together. Only agree_on_error() makes it, so every other
// exception is, by its type, one that the other ranks may know nothing of: see run_together.hpp.
class AgreedError : public Error {
 public:
  int ranks() const { return ranks_; }  // that throw it

 private:
  friend void agree_on_error(MPI_Comm comm, const std::exception_ptr& error);
  AgreedError(ExitCode code, const std::string& message, int ranks)
      : Error(code, message), ranks_(ranks) {}

  int ranks_;
};

// Throws AgreedError on every rank of `comm` when `error` is set on any: that of the lowest failing
// rank. Collective.
void agree_on_error(MPI_Comm comm, const std::exception_ptr& error);

// Any exception as one of ours: code and line.
Error describe(const std::exception_ptr& error);

// Runs `work` (which must not communicate) and agrees on its outcome. Collective.
//   collectively(comm, [&] { values = parse(file); });
template <class Work>
void collectively(MPI_Comm comm, Work&& work) {
  std::exception_ptr error;
  try {
    std::forward<Work>(work)();
  } catch (...) {
    error = std::current_exception();
  }
  agree_on_error(comm, error);
}

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

// Collective.
inline double max_over_ranks(MPI_Comm comm, double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}
inline std::int64_t sum_over_ranks(MPI_Comm comm, std::int64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, comm);
  return value;
}

}  // namespace trireme
