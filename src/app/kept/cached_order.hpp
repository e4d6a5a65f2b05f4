// SPDX-License-Identifier: BSD-3-Clause
// Orders of rows, from the cache where that is faster than finding them.
#pragma once

#include <memory>

#include "cache/cache_key.hpp"
#include "cache/shared_cache.hpp"
#include "distributed/ordered_matrix.hpp"

namespace trireme {

// As order_matrix(). `key` is that of orders of this matrix, without the ordering (kOrderKind). An
// order that took long to find is kept for the next run. Collective.
std::shared_ptr<OrderedMatrix> cached_order(SharedCache& cache, CacheKey key,
                                            const std::shared_ptr<DistributedMatrix>& matrix,
                                            Ordering ordering, Device device);

}  // namespace trireme
