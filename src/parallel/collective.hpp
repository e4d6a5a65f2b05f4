// SPDX-License-Identifier: BSD-3-Clause
// Errors on many ranks, which agree before any of them leaves, so that no rank hangs in a
// collective call; and short names for common reductions.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>

#include "base/error.hpp"

namespace trireme {

// An error that a number of ranks throw together. Only agree_on_error() makes it. The type
// therefore tells it from an exception that other ranks may not know (run_together.hpp).
class AgreedError : public Error {
 public:
  int ranks() const { return ranks_; }  // the number of ranks that throw it

 private:
  friend void agree_on_error(MPI_Comm comm, const std::exception_ptr& error);
  AgreedError(ExitCode code, const std::string& message, int ranks)
      : Error(code, message), ranks_(ranks) {}

  int ranks_;
};

// Throws AgreedError on every rank of `comm` where `error` is set on any rank. Its text and code
// are those of the lowest failing rank; the text names its host where ranks of other hosts do not
// fail. Collective.
void agree_on_error(MPI_Comm comm, const std::exception_ptr& error);

// Converts any exception to an Error with an exit code and a line.
Error describe(const std::exception_ptr& error);

// Runs `work`, which must not communicate, and agrees on its outcome. Collective.
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

// The maximum, or the sum, over the ranks. Collective.
inline double max_over_ranks(MPI_Comm comm, double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}
inline std::int64_t sum_over_ranks(MPI_Comm comm, std::int64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, comm);
  return value;
}
// Whether `here` is true on any rank. Collective.
inline bool any_rank(MPI_Comm comm, bool here) { return max_over_ranks(comm, here ? 1 : 0) > 0; }

}  // namespace trireme
