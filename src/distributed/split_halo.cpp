// SPDX-License-Identifier: BSD-3-Clause
// Deals out the neighbours of a plan.
#include "distributed/split_halo.hpp"

#include <algorithm>

namespace trireme {
namespace {

// The entries of a neighbour become the last ones of `plan`.
void append_send(HaloPlan& plan, int rank, std::span<const std::int32_t> rows) {
  plan.sends.push_back({rank, static_cast<std::int32_t>(plan.send_rows.size()),
                        static_cast<std::int32_t>(rows.size())});
  plan.send_rows.insert(plan.send_rows.end(), rows.begin(), rows.end());
}

// Returns the number of the first of the new ghosts.
std::int32_t append_receive(HaloPlan& plan, int rank, std::int32_t count) {
  const std::int32_t first = plan.ghosts;
  plan.receives.push_back({rank, first, count});
  plan.ghosts += count;
  return first;
}

}  // namespace

SplitHalo split_halo(const HaloPlan& plan, std::span<const int> groups, int rank) {
  SplitHalo parts;
  const auto is_near = [&](int other) { return groups[other] == groups[rank]; };
  const auto part_of = [&](int other) -> HaloPlan& {
    return is_near(other) ? parts.near : parts.far;
  };
  const auto number = [&](int other) {
    if (!is_near(other)) return other;
    return static_cast<int>(std::count(groups.begin(), groups.begin() + other, groups[rank]));
  };
  const std::span<const std::int32_t> rows(plan.send_rows);
  for (const auto& to : plan.sends)
    append_send(part_of(to.rank), number(to.rank), rows.subspan(to.offset, to.count));
  parts.sources.resize(plan.ghosts);
  for (const auto& from : plan.receives) {
    const std::int32_t first = append_receive(part_of(from.rank), number(from.rank), from.count);
    for (std::int32_t k = 0; k < from.count; ++k)
      parts.sources[from.offset + k] = is_near(from.rank) ? ~(first + k) : first + k;
  }
  return parts;
}

}  // namespace trireme
