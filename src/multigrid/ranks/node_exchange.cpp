// SPDX-License-Identifier: BSD-3-Clause
// Packs the values that neighbours need, and receives the ghosts behind the values of this rank.
#include "multigrid/ranks/node_exchange.hpp"

#include <cstring>
#include <vector>

#include "base/array.hpp"

namespace trireme::multigrid {

void NodeExchange::fetch_bytes(void* values, std::int64_t bytes_per_node) const {
  auto* const bytes = static_cast<char*>(values);
  const Array<std::int32_t>& rows = halo_->send_rows;
  Array<char> packed(rows.size() * bytes_per_node);
  for (std::size_t k = 0; k < rows.size(); ++k)
    std::memcpy(packed.data() + k * bytes_per_node, bytes + rows[k] * bytes_per_node,
                bytes_per_node);
  MPI_Datatype node = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(bytes_per_node), MPI_BYTE, &node);
  MPI_Type_commit(&node);
  std::vector<MPI_Request> requests;
  for (const auto& from : halo_->receives)
    MPI_Irecv(bytes + (nodes_ + from.offset) * bytes_per_node, from.count, node, from.rank, 0,
              comm_, &requests.emplace_back());
  for (const auto& to : halo_->sends)
    MPI_Isend(packed.data() + to.offset * bytes_per_node, to.count, node, to.rank, 0, comm_,
              &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Type_free(&node);
}

double NodeExchange::reduced(double value, MPI_Op op) const {
  if (!alone()) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, op, comm_);
  return value;
}

}  // namespace trireme::multigrid
