// SPDX-License-Identifier: BSD-3-Clause
// Sends rows of the modes to the owners of their aggregates, and gets their rows of T back.
#include "multigrid/ranks/tentative_on_ranks.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "multigrid/ranks/send_to_ranks.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

// The nodes of this rank that belong to aggregates of other ranks.
struct Guests {
  std::vector<std::int32_t> nodes;  // local numbers, by the rank `to` and ascending
  std::vector<int> to;              // the owners of their aggregates, ascending

  Guests(int rank, const RankAggregates& aggregates) {
    std::vector<std::pair<int, std::int32_t>> found;
    for (std::size_t node = 0; node < aggregates.of_node.size(); ++node) {
      const std::int32_t number = aggregates.of_node[node];
      if (number < 0) continue;
      const int owner = owner_of(aggregates.starts, number);
      if (owner != rank) found.emplace_back(owner, static_cast<std::int32_t>(node));
    }
    std::sort(found.begin(), found.end());
    for (const auto& [owner, node] : found) {
      to.push_back(owner);
      nodes.push_back(node);
    }
  }
};

}  // namespace

Tentative make_tentative(MPI_Comm comm, const RankAggregates& aggregates,
                         const NearNullspace& modes, std::int32_t block_size) {
  Tentative result;
  result.block_size = block_size;
  result.width = modes.width > 0 ? modes.width : block_size;
  if (modes.width == 0) return result;
  const int rank = rank_of(comm);
  const std::int64_t first = aggregates.starts[rank];
  const std::int64_t per_node = std::int64_t{block_size} * modes.width;
  const Guests guests(rank, aggregates);
  Array<std::int32_t> numbers;
  Array<double> rows;
  for (const std::int32_t node : guests.nodes) {
    numbers.push_back(aggregates.of_node[node]);
    rows.insert(rows.end(), modes.values.begin() + node * per_node,
                modes.values.begin() + (node + 1) * per_node);
  }
  const Received<std::int32_t> visitors = send_to_ranks<std::int32_t>(comm, numbers, 1, guests.to);
  Received<double> of_visitors = send_to_ranks<double>(comm, rows, per_node, guests.to);

  // The members of this rank's aggregates stand in the order of their numbers in the whole graph:
  // visitors from lower ranks, nodes of this rank, visitors from higher ranks.
  std::int64_t before = 0;
  for (int lower = 0; lower < rank; ++lower) before += of_visitors.counts[lower];
  Tentative factored;
  collectively(comm, [&] {
    Aggregates all;
    all.roots.resize(aggregates.starts[rank + 1] - first);
    const auto add = [&](std::span<const std::int32_t> members) {
      for (const std::int32_t number : members) {
        const std::int64_t local = number - first;
        const bool is_own = number >= 0 && local >= 0 && local < all.count();
        all.of_node.push_back(is_own ? static_cast<std::int32_t>(local) : -1);
      }
    };
    const std::span<const std::int32_t> others(visitors.values);
    add(others.first(before));
    add(aggregates.of_node);
    add(others.subspan(before));
    NearNullspace team{.values = of_visitors.values, .width = modes.width};
    team.values.insert(team.values.begin() + before * per_node, modes.values.begin(),
                       modes.values.end());
    factored = make_tentative(all, team, block_size);
  });
  const auto own = factored.values.begin() + before * per_node;
  const auto own_end = own + std::ssize(modes.values);
  result.values.assign(own, own_end);
  result.coarse_modes = std::move(factored.coarse_modes);
  std::copy(factored.values.begin(), own, of_visitors.values.begin());
  std::copy(own_end, factored.values.end(), of_visitors.values.begin() + before * per_node);

  std::vector<int> back;
  for (std::size_t from = 0; from < of_visitors.counts.size(); ++from)
    back.insert(back.end(), of_visitors.counts[from], static_cast<int>(from));
  const Received<double> returned = send_to_ranks<double>(comm, of_visitors.values, per_node, back);
  for (std::size_t k = 0; k < guests.nodes.size(); ++k)
    std::copy_n(returned.values.begin() + static_cast<std::int64_t>(k) * per_node, per_node,
                result.values.begin() + guests.nodes[k] * per_node);
  return result;
}

}  // namespace trireme::multigrid
