// SPDX-License-Identifier: BSD-3-Clause
// The functors that make graphs of nodes symmetric, and that gather graphs of parts.
#pragma once

#include <algorithm>

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

TRIREME_HD bool ascends(const std::int32_t* begin, const std::int32_t* end) {
  for (; begin + 1 < end; ++begin)
    if (begin[0] > begin[1]) return false;
  return true;
}

#ifdef __CUDACC__
// Heapsort, which needs no memory.
TRIREME_HD void sink(std::int32_t* heap, std::int64_t at, std::int64_t count) {
  for (std::int64_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
    if (child + 1 < count && heap[child] < heap[child + 1]) ++child;
    if (heap[at] >= heap[child]) return;
    const std::int32_t number = heap[at];
    heap[at] = heap[child];
    heap[child] = number;
  }
}
TRIREME_HD void sort_ascending(std::int32_t* begin, std::int32_t* end) {
  if (ascends(begin, end)) return;
  const std::int64_t count = end - begin;
  for (std::int64_t at = count / 2 - 1; at >= 0; --at) sink(begin, at, count);
  for (std::int64_t last = count - 1; last > 0; --last) {
    const std::int32_t number = begin[0];
    begin[0] = begin[last];
    begin[last] = number;
    sink(begin, 0, last);
  }
}
#else
inline void sort_ascending(std::int32_t* begin, std::int32_t* end) {
  if (!ascends(begin, end)) std::sort(begin, end);
}
#endif

struct SortNeighbours {
  const std::int32_t* row_ptr;
  std::int32_t* neighbour;

  TRIREME_HD void operator()(std::int64_t node) const {
    std::int32_t* const begin = neighbour + row_ptr[node];
    std::int32_t* const end = neighbour + row_ptr[node + 1];
    sort_ascending(begin, end);
  }
};

// Returns how many edges to larger nodes of this rank have no edge back.
struct MissingEdges {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  std::int32_t nodes = INT32_MAX;  // those from here on are ghosts

  TRIREME_HD double operator()(std::int64_t node) const {
    std::int32_t missing = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const std::int32_t other = neighbour[k];
      if (other > node && other < nodes) missing += !holds(other, static_cast<std::int32_t>(node));
    }
    return missing;
  }
  TRIREME_HD bool holds(std::int32_t node, std::int32_t wanted) const {
    std::int32_t low = row_ptr[node], high = row_ptr[node + 1];
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (neighbour[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low < row_ptr[node + 1] && neighbour[low] == wanted;
  }
};

// Returns the number of edges to larger nodes of this rank less that of edges to smaller ones.
struct EdgesUp {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  std::int32_t nodes = INT32_MAX;  // as above

  TRIREME_HD double operator()(std::int64_t node) const {
    std::int32_t sum = 0;
    for (std::int32_t k = row_ptr[node]; k < row_ptr[node + 1]; ++k)
      if (neighbour[k] < nodes) sum += neighbour[k] > node ? 1 : -1;
    return sum;
  }
};

struct GatherBoth {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const std::int32_t* back_ptr;
  const std::int32_t* back;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t node, Set& set) const {
    const std::int32_t lane = set.lane(), lanes = set.lanes();
    for (std::int32_t k = row_ptr[node] + lane; k < row_ptr[node + 1]; k += lanes)
      set.insert(neighbour[k]);
    for (std::int32_t k = back_ptr[node] + lane; k < back_ptr[node + 1]; k += lanes)
      set.insert(back[k]);
  }
  TRIREME_HD std::int64_t terms(std::int64_t node) const {
    return std::int64_t{row_ptr[node + 1]} - row_ptr[node] + back_ptr[node + 1] - back_ptr[node];
  }
};

struct GatherParts {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  const std::int32_t* part;
  const std::int32_t* first_member;  // by part
  const std::int32_t* member;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t own, Set& set) const {
    for (std::int32_t m = first_member[own]; m < first_member[own + 1]; ++m) {
      const std::int32_t node = member[m];
      for (std::int32_t k = row_ptr[node] + set.lane(); k < row_ptr[node + 1]; k += set.lanes()) {
        const std::int32_t other = part[neighbour[k]];
        if (other >= 0 && other != own) set.insert(other);
      }
    }
  }
  TRIREME_HD std::int64_t terms(std::int64_t own) const {
    std::int64_t edges = 0;
    for (std::int32_t m = first_member[own]; m < first_member[own + 1]; ++m)
      edges += row_ptr[member[m] + 1] - row_ptr[member[m]];
    return edges;
  }
};

}  // namespace trireme::multigrid
