// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies of multigrid in the cache.
#pragma once

#include "cache/cache_key.hpp"
#include "cache/shared_cache.hpp"
#include "multigrid/store/hierarchy_entry.hpp"

namespace trireme {

// `key` is that of this case (kHierarchyKind), to which entries add the matrix with its values and
// the distribution of its rows, the near-nullspace and the options. `cache` must outlive the store.
// Null where the cache is not used.
multigrid::HierarchyStore cached_hierarchies(SharedCache& cache, const CacheKey& key);

}  // namespace trireme
