// SPDX-License-Identifier: BSD-3-Clause
// The message of the lowest failing rank travels to all ranks.
#include "parallel/collective.hpp"

#include <functional>
#include <new>
#include <string>

#include "parallel/nodes.hpp"

namespace trireme {

Error describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e;
  } catch (const std::bad_alloc&) {
    return Error(ExitCode::resource, "not enough memory on this rank; use more ranks or nodes");
  } catch (const std::exception& e) {
    return Error(ExitCode::internal, e.what());
  } catch (...) {
    return Error(ExitCode::internal, "an exception of an unknown type");
  }
}

namespace {

// " (rank 5 on node2)" where the ranks of several hosts fail or not; empty where all ranks fail, or
// all run on one host. Collective.
std::string place_of_failure(MPI_Comm comm, bool fails) {
  const std::string host = host_name();
  const std::uint64_t hash = std::hash<std::string>()(host);
  std::uint64_t least[3] = {hash, ~hash, fails ? 1U : 0U};
  MPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_UINT64_T, MPI_MIN, comm);
  const bool one_host = least[0] == ~least[1], all_fail = least[2] != 0;
  if (one_host || all_fail) return {};
  return fmt::format(" (rank {} on {})", rank_of(comm), host);
}

}  // namespace

void agree_on_error(MPI_Comm comm, const std::exception_ptr& error) {
  const int rank = rank_of(comm);
  const int nobody = size_of(comm);
  int first = error ? rank : nobody;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == nobody) return;
  const std::string place = place_of_failure(comm, error != nullptr);

  int header[2] = {0, 0};  // exit code, length of the message
  std::string message;
  if (rank == first) {
    const Error mine = describe(error);
    message = mine.what() + place;
    header[0] = static_cast<int>(mine.code());
    header[1] = static_cast<int>(message.size());
  }
  MPI_Bcast(header, 2, MPI_INT, first, comm);
  message.resize(header[1]);
  MPI_Bcast(message.data(), header[1], MPI_CHAR, first, comm);
  throw AgreedError(static_cast<ExitCode>(header[0]), message, nobody);
}

}  // namespace trireme
