// SPDX-License-Identifier: BSD-3-Clause
// Compares a lower bound with the available memory of the node and of the process.
#include "io/require_memory.hpp"

#include <algorithm>

#include "base/available_memory.hpp"
#include "base/error.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

void require(const std::string& name, double bytes, double available, const char* where,
             const char* advice) {
  if (bytes > available)
    fail(ExitCode::resource,
         "{}: at least {:.0f} bytes ({:.1f} GiB) are needed{}, {:.0f} bytes ({:.1f} GiB) are "
         "available; {}",
         name, bytes, bytes / (1 << 30), where, available, available / (1 << 30), advice);
}

}  // namespace

void require_memory(const std::string& name, double bytes) {
  const AvailableMemory available = available_memory();
  require(name, bytes, static_cast<double>(std::min(available.shared, available.own)), "",
          "use a machine with more memory, or raise the job's limit");
}

void require_memory(MPI_Comm comm, const std::string& name, double bytes_of_all_ranks) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const AvailableMemory mine = available_memory();
  double shared = static_cast<double>(mine.shared);  // before any rank of the node takes a part
  MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_DOUBLE, MPI_MIN, node);
  const int ranks_here = size_of(node);
  MPI_Comm_free(&node);
  collectively(comm, [&] {
    const double bytes = bytes_of_all_ranks / size_of(comm);
    require(name, bytes, static_cast<double>(mine.own), " on each rank",
            "use more ranks, or raise the limit of the address space (ulimit -v)");
    require(name, bytes * ranks_here, shared, " on this node",
            "use more nodes, or raise the job's memory limit");
  });
}

}  // namespace trireme
