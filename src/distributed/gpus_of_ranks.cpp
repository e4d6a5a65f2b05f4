// SPDX-License-Identifier: BSD-3-Clause
// Gathers what each rank sees, and selects devices.
#include "distributed/gpus_of_ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr std::size_t kMaxNamed = 3;

struct Seen {
  std::array<char, 64> node{};
  int usable = 0;
};

// "rank 4", "ranks 4 to 7".
std::string ranks_in_words(std::size_t first, std::size_t last) {
  return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, last);
}

// The first of them, and how many there are beside.
std::string first_of(const std::vector<std::string>& places) {
  const std::size_t named = std::min(places.size(), kMaxNamed);
  std::string text = fmt::format("{}", fmt::join(places.begin(), places.begin() + named, ", "));
  if (places.size() > named) text += fmt::format(" and {} more", places.size() - named);
  return text;
}

}  // namespace

GpusOfRanks summarise_gpus(std::span<const RankGpu> ranks) {
  const auto without = std::ranges::count(ranks, false, &RankGpu::usable);
  if (without == 0) return {.everywhere = true, .lacking = {}};
  if (without == std::ssize(ranks)) return {};
  std::vector<std::string> places;  // a run of ranks of one node each
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t end = first + 1;
    while (end < ranks.size() && ranks[end].node == ranks[first].node &&
           ranks[end].usable == ranks[first].usable)
      ++end;
    if (!ranks[first].usable)
      places.push_back(fmt::format("{} ({})", ranks[first].node, ranks_in_words(first, end - 1)));
    first = end;
  }
  return {.everywhere = false, .lacking = first_of(places)};
}

GpusOfRanks gpus_of_ranks(MPI_Comm comm) {
  Seen mine;
  const std::string node = host_name();
  std::copy_n(node.begin(), std::min(node.size(), mine.node.size() - 1), mine.node.begin());
  mine.usable = cuda_available() ? 1 : 0;
  std::vector<Seen> all(size_of(comm));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm);
  std::vector<RankGpu> ranks;
  for (const Seen& seen : all) ranks.push_back({seen.node.data(), seen.usable != 0});
  return summarise_gpus(ranks);
}

std::string place_of_rank(MPI_Comm comm) {
  return fmt::format("{} (rank {})", host_name(), rank_of(comm));
}

DeviceProperties select_gpu_of_rank(MPI_Comm comm) {
  const int rank = rank_on_node(comm);
  DeviceProperties gpu;
  collectively(comm, [&] {
    try {
      gpu = select_device(rank);
    } catch (const Error& error) {
      if (size_of(comm) == 1) throw;
      fail(error.code(), "{}: {}", place_of_rank(comm), error.what());
    }
  });
  return gpu;
}

std::string gpus_that_are_shared(std::span<const Node> nodes, std::span<const std::string> uuids) {
  std::vector<std::string> places;
  for (const Node& node : nodes) {
    std::set<std::string> gpus;
    for (const int rank : node.ranks) gpus.insert(uuids[rank]);
    if (gpus.size() < node.ranks.size())
      places.push_back(
          fmt::format("on {} {} ranks share {}", node.host, node.ranks.size(),
                      gpus.size() == 1 ? "one GPU" : fmt::format("{} GPUs", gpus.size())));
  }
  if (places.empty()) return {};
  return first_of(places) +
         ": ranks of one GPU take turns, and exchange through MPI; start as many ranks on each "
         "node as "
         "it has GPUs";
}

std::string gpus_that_are_shared(MPI_Comm comm) {
  if (size_of(comm) == 1) return {};
  using Uuid = std::array<char, 32>;
  Uuid mine{};
  collectively(comm, [&] {
    const std::string uuid = device_properties().uuid;
    std::copy_n(uuid.begin(), std::min(uuid.size(), mine.size()), mine.begin());
  });
  std::vector<Uuid> all(size_of(comm));
  MPI_Allgather(mine.data(), sizeof(Uuid), MPI_BYTE, all.data(), sizeof(Uuid), MPI_BYTE, comm);
  std::vector<std::string> uuids;
  for (const Uuid& uuid : all) uuids.emplace_back(uuid.begin(), uuid.end());
  return gpus_that_are_shared(nodes_of_ranks(comm), uuids);
}

}  // namespace trireme
