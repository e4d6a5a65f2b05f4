// SPDX-License-Identifier: BSD-3-Clause
// The tentative prolongator: orthogonal factors of the near-nullspace on each aggregate. Rows of
// the modes travel to the owners of their aggregates, and rows of T travel back.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "multigrid/ranks/send_to_ranks.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/members.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/orthogonalise_modes.hpp"
#include "multigrid/set_up/prolongator.hpp"
#include "parallel/collective.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

// The nodes of this rank that belong to aggregates of other ranks.
struct Guests {
  std::vector<std::int32_t> nodes;  // local numbers, by the rank `to` and ascending
  std::vector<int> to;              // the owners of their aggregates, ascending

  Guests(int rank, const Aggregates& aggregates) {
    const std::int64_t first = aggregates.starts[rank], end = aggregates.starts[rank + 1];
    std::vector<std::pair<int, std::int32_t>> found;
    for (std::size_t node = 0; node < aggregates.of_node.size(); ++node) {
      const std::int32_t number = aggregates.of_node[node];
      if (number < 0 || (number >= first && number < end)) continue;
      found.emplace_back(owner_of(aggregates.starts, number), static_cast<std::int32_t>(node));
    }
    std::sort(found.begin(), found.end());
    for (const auto& [owner, node] : found) {
      to.push_back(owner);
      nodes.push_back(node);
    }
  }
};

void require_finite(const NearNullspace& modes) {
  const std::int64_t count = std::ssize(modes.values);
  const std::int64_t behind = HostPlace::maximum(count, std::int64_t{0}, [&](std::int64_t k) {
    return std::isfinite(modes.values[k]) ? 0 : count - k;
  });
  if (behind > 0) refuse_mode((count - behind) % modes.width);
}

}  // namespace

Tentative make_tentative(MPI_Comm comm, const Aggregates& aggregates, const NearNullspace& modes,
                         std::int32_t block_size) {
  Tentative result;
  result.block_size = block_size;
  result.width = modes.width > 0 ? modes.width : block_size;
  if (modes.width == 0) return result;
  const int rank = rank_of(comm);
  const auto first = static_cast<std::int32_t>(aggregates.starts[rank]);
  const std::int64_t per_node = std::int64_t{block_size} * modes.width;
  const Guests guests(rank, aggregates);
  Array<std::int32_t> numbers;
  Array<double> rows;
  collectively(comm, [&] {
    require_finite(modes);
    for (const std::int32_t node : guests.nodes) {
      numbers.push_back(aggregates.of_node[node]);
      rows.insert(rows.end(), modes.values.begin() + node * per_node,
                  modes.values.begin() + (node + 1) * per_node);
    }
  });
  const Received<std::int32_t> visitors = send_to_ranks<std::int32_t>(comm, numbers, 1, guests.to);
  Received<double> of_visitors = send_to_ranks<double>(comm, rows, per_node, guests.to);

  // The members of this rank's aggregates stand in the order of their numbers in the whole graph:
  // visitors from lower ranks, nodes of this rank, visitors from higher ranks.
  std::int64_t before = 0;
  for (int lower = 0; lower < rank; ++lower) before += of_visitors.counts[lower];
  Array<double>& team = result.values;
  collectively(comm, [&] {
    Array<std::int32_t> number = aggregates.of_node;
    number.insert(number.begin(), visitors.values.begin(), visitors.values.begin() + before);
    number.insert(number.end(), visitors.values.begin() + before, visitors.values.end());
    HostPlace::for_each(std::ssize(number), [&](std::int64_t member) {
      const std::int32_t local = number[member] - first;
      number[member] = local >= 0 && local < aggregates.count() ? local : -1;
    });
    const auto split = of_visitors.values.begin() + before * per_node;
    team = modes.values;
    team.insert(team.begin(), of_visitors.values.begin(), split);
    team.insert(team.end(), split, of_visitors.values.end());
    result.coarse_modes.width = modes.width;
    result.coarse_modes.values.assign(std::int64_t{aggregates.count()} * modes.width * modes.width,
                                      0.0);
    const Members members(number, aggregates.count());
    HostPlace::for_each(aggregates.count(),
                        by_one_thread<kLanesOfAggregate>(OrthogonaliseModes{
                            members.first.data(), members.member.data(), block_size, modes.width,
                            team.data(), result.coarse_modes.values.data()}));
  });
  const auto own = team.begin() + before * per_node, own_end = own + std::ssize(modes.values);
  std::copy(team.begin(), own, of_visitors.values.begin());
  std::copy(own_end, team.end(), of_visitors.values.begin() + before * per_node);
  team.erase(own_end, team.end());
  team.erase(team.begin(), own);

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
