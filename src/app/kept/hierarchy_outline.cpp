// SPDX-License-Identifier: BSD-3-Clause
// Bytes of an entry, read by the rules of multigrid.
#include "app/kept/hierarchy_outline.hpp"

#include "cache/cache.hpp"

namespace trireme {

HierarchyOutline start_of_hierarchy(const std::filesystem::path& entry) {
  return multigrid::outline_of_start(Cache::read_start(entry, multigrid::kOutlineStart));
}

HierarchyOutline whole_hierarchy(const std::filesystem::path& entry) {
  return multigrid::outline_of(Cache::read(entry).payload);
}

}  // namespace trireme
