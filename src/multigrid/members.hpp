// SPDX-License-Identifier: BSD-3-Clause
// The members of each part of a partition of nodes.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"

namespace trireme::multigrid {

// Part p has the nodes member[first[p]] .. member[first[p+1]-1], ascending. Nodes of the part -1
// are in no list.
struct Members {
  Array<std::int32_t> first, member;

  Members(std::span<const std::int32_t> part_of_node, std::int32_t parts) : first(parts + 1, 0) {
    for (const std::int32_t part : part_of_node)
      if (part >= 0) ++first[part + 1];
    for (std::int32_t p = 0; p < parts; ++p) first[p + 1] += first[p];
    member.resize(first[parts]);
    Array<std::int32_t> next(first.begin(), first.end() - 1);
    for (std::size_t node = 0; node < part_of_node.size(); ++node)
      if (part_of_node[node] >= 0)
        member[next[part_of_node[node]]++] = static_cast<std::int32_t>(node);
  }
};

}  // namespace trireme::multigrid
