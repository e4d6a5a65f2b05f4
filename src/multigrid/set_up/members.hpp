// SPDX-License-Identifier: BSD-3-Clause
// The members of each part of a partition of nodes.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "multigrid/set_up/sort_by_key.hpp"

namespace trireme::multigrid {

// Part p has the nodes member[first[p]] .. member[first[p+1]-1], ascending. Nodes of the part -1
// are in no list.
struct Members {
  Array<std::int32_t> first, member;

  Members(std::span<const std::int32_t> part_of_node, std::int32_t lists) {
    const std::int64_t nodes = std::ssize(part_of_node);
    const int threads = parts_to_sort(nodes, lists);
    first = sort_by_key(
        lists, threads,
        [&](int thread, const auto& visit) {
          for (std::int64_t node = nodes * thread / threads; node < nodes * (thread + 1) / threads;
               ++node)
            if (part_of_node[node] >= 0) visit(part_of_node[node], static_cast<std::int32_t>(node));
        },
        [&](std::int64_t count) { member.resize(count); },
        [&](std::int32_t at, std::int32_t node) { member[at] = node; });
  }
};

}  // namespace trireme::multigrid
