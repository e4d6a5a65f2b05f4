// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/cuda/device_ghosts.hpp"

#include <algorithm>
#include <numeric>

#include "parallel/collective.hpp"

namespace trireme::multigrid {

GhostWords::Room GhostWords::room(std::size_t sent, std::size_t received) {
  constexpr std::size_t kLeast = kLeastBytes / sizeof(std::uint32_t);
  if (words_.size() < sent + received)
    words_ = PinnedBuffer<std::uint32_t>(std::max(kLeast, sent + received));
  return {words_.span().first(sent), words_.span().subspan(sent, received)};
}

DeviceGhosts::DeviceGhosts(MPI_Comm comm, const HaloPlan& halo, std::int64_t nodes,
                           std::int64_t most_numbers, GhostWords& way, StreamRef stream)
    : comm_(comm),
      halo_(&halo),
      rank_(static_cast<std::size_t>(rank_of(comm))),
      nodes_(nodes),
      stream_(stream),
      send_rows_(to_device(std::span<const std::int32_t>(halo.send_rows), stream)),
      packed_(halo.send_rows.size() * static_cast<std::size_t>(2 * most_numbers), stream),
      way_(&way) {
  synchronize(stream);
}

void DeviceGhosts::agree() const {
  if (!alone()) agree_on_error(comm_, nullptr);
}

void DeviceGhosts::fetch_words(std::uint32_t* values, std::int64_t words) const {
  pack_words(values, send_rows_.view(), words, packed_.data(), stream_);
  const std::size_t count = send_rows_.size() * static_cast<std::size_t>(words);
  const auto came = static_cast<std::size_t>(halo_->ghosts * words);
  const auto [sent, received] = way_->room(count, came);
  copy_to_host(packed_.view().subspan(0, count), sent, stream_);
  synchronize(stream_);
  agree();
  MPI_Datatype node = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(words), MPI_UINT32_T, &node);
  MPI_Type_commit(&node);
  std::vector<MPI_Request> requests;
  for (const auto& from : halo_->receives)
    MPI_Irecv(received.data() + from.offset * words, from.count, node, from.rank, 0, comm_,
              &requests.emplace_back());
  for (const auto& to : halo_->sends)
    MPI_Isend(sent.data() + to.offset * words, to.count, node, to.rank, 0, comm_,
              &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Type_free(&node);
  copy_to_device(std::span<const std::uint32_t>(received),
                 DeviceSpan<std::uint32_t>(values + nodes_ * words, came), stream_);
  synchronize(stream_);
}

double DeviceGhosts::reduced(double value, MPI_Op op) const {
  if (alone()) return value;
  agree();
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, op, comm_);
  return value;
}

std::vector<std::int64_t> DeviceGhosts::starts_of(std::int64_t mine) const {
  if (alone()) return {0, mine};
  agree();
  std::vector<std::int64_t> starts(static_cast<std::size_t>(size_of(comm_)) + 1, 0);
  MPI_Allgather(&mine, 1, MPI_INT64_T, starts.data() + 1, 1, MPI_INT64_T, comm_);
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

}  // namespace trireme::multigrid
