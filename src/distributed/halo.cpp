// SPDX-License-Identifier: BSD-3-Clause
// The halo plan from the ghost columns, and its persistent MPI requests.
#include "distributed/halo.hpp"

#include <algorithm>
#include <limits>

#include "parallel/collective.hpp"

namespace trireme {

HaloPlan plan_halo(MPI_Comm comm, std::span<const std::int64_t> row_starts,
                   std::span<const std::int64_t> ghost_columns) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  HaloPlan plan;
  plan.ghosts = static_cast<std::int32_t>(ghost_columns.size());

  // Ghost columns ascend, so that those of one owner are one slice of the ghost vector.
  std::vector<int> wanted(ranks, 0), asked(ranks, 0);
  for (std::int32_t k = 0; k < plan.ghosts;) {
    const auto after = std::upper_bound(row_starts.begin(), row_starts.end(), ghost_columns[k]);
    const int owner = static_cast<int>(after - row_starts.begin()) - 1;
    const auto end = std::lower_bound(ghost_columns.begin() + k, ghost_columns.end(), *after);
    const auto count = static_cast<std::int32_t>(end - ghost_columns.begin()) - k;
    plan.receives.push_back({owner, k, count});
    wanted[owner] = count;
    k += count;
  }
  MPI_Alltoall(wanted.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, comm);

  std::int64_t all_asked = 0;
  for (const int count : asked) all_asked += count;
  collectively(comm, [&] {
    if (all_asked > std::numeric_limits<std::int32_t>::max())
      fail(ExitCode::resource,
           "a rank would send {} entries of a vector to others, at most 2^31-1; use more ranks",
           all_asked);
  });
  std::int32_t total = 0;
  for (int neighbour = 0; neighbour < ranks; ++neighbour) {
    if (asked[neighbour] == 0) continue;
    plan.sends.push_back({neighbour, total, asked[neighbour]});
    total += asked[neighbour];
  }
  Array<std::int64_t> send_columns(total);

  MPI_Comm lists = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &lists);
  std::vector<MPI_Request> requests;
  for (const auto& to : plan.sends)
    MPI_Irecv(send_columns.data() + to.offset, to.count, MPI_INT64_T, to.rank, 0, lists,
              &requests.emplace_back());
  for (const auto& from : plan.receives)
    MPI_Isend(ghost_columns.data() + from.offset, from.count, MPI_INT64_T, from.rank, 0, lists,
              &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Comm_free(&lists);
  plan.send_rows.resize(total);
  for (std::int32_t k = 0; k < total; ++k)
    plan.send_rows[k] = static_cast<std::int32_t>(send_columns[k] - row_starts[rank]);
  return plan;
}

HaloPlan plan_halo(MPI_Comm comm, std::span<const std::int64_t> row_starts,
                   std::span<const std::int32_t> ghost_columns) {
  const Array<std::int64_t> wide(ghost_columns.begin(), ghost_columns.end());
  return plan_halo(comm, row_starts, std::span<const std::int64_t>(wide));
}

HaloPlan widened(const HaloPlan& plan, std::int64_t rows, std::int64_t stride, std::int64_t width) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t longest = std::max(
      rows * stride, std::max<std::int64_t>(plan.ghosts, std::ssize(plan.send_rows)) * width);
  if (longest > kMost)
    fail(ExitCode::resource,
         "{} vectors of {} rows have more elements than 32 bits number; use fewer of them at once, "
         "or more ranks",
         stride, rows);
  const auto times = [&](std::int32_t number) { return static_cast<std::int32_t>(number * width); };
  HaloPlan wide = plan;
  for (auto* neighbours : {&wide.sends, &wide.receives})
    for (HaloPlan::Neighbour& neighbour : *neighbours)
      neighbour = {neighbour.rank, times(neighbour.offset), times(neighbour.count)};
  wide.ghosts = times(plan.ghosts);
  wide.send_rows.resize(plan.send_rows.size() * static_cast<std::size_t>(width));
  std::size_t entry = 0;
  for (const std::int32_t row : plan.send_rows)
    for (std::int64_t j = 0; j < width; ++j)
      wide.send_rows[entry++] = static_cast<std::int32_t>(row * stride + j);
  return wide;
}

HaloExchange::HaloExchange(MPI_Comm comm, const HaloPlan& plan, std::span<double> packed,
                           std::span<double> ghosts, int width) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Datatype entry = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(width, MPI_DOUBLE, &entry);
  MPI_Type_commit(&entry);
  const auto at = [width](std::span<double> entries, const HaloPlan::Neighbour& slice) {
    return entries.data() + std::int64_t{slice.offset} * width;
  };
  for (const auto& from : plan.receives) {
    double* slice = at(ghosts, from);
    MPI_Recv_init(slice, from.count, entry, from.rank, 0, comm_, &forward_.emplace_back());
    MPI_Send_init(slice, from.count, entry, from.rank, 1, comm_, &reverse_.emplace_back());
  }
  for (const auto& to : plan.sends) {
    double* slice = at(packed, to);
    MPI_Send_init(slice, to.count, entry, to.rank, 0, comm_, &forward_.emplace_back());
    MPI_Recv_init(slice, to.count, entry, to.rank, 1, comm_, &reverse_.emplace_back());
  }
  MPI_Type_free(&entry);  // the requests keep it
}

HaloExchange::~HaloExchange() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized || error_in_flight()) return;
  for (Requests* requests : {&forward_, &reverse_})
    for (MPI_Request& request : *requests) MPI_Request_free(&request);
  MPI_Comm_free(&comm_);
}

void HaloExchange::start(Requests& requests) {
  if (requests.empty()) return;  // Open MPI refuses to start none
  MPI_Startall(static_cast<int>(requests.size()), requests.data());
}

void HaloExchange::wait(Requests& requests) {
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace trireme
