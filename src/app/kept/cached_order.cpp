// SPDX-License-Identifier: BSD-3-Clause
// Looks in the cache first.
#include "app/kept/cached_order.hpp"

#include <utility>

#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"

namespace trireme {

std::shared_ptr<OrderedMatrix> cached_order(SharedCache& cache, CacheKey key,
                                            const std::shared_ptr<DistributedMatrix>& matrix,
                                            Ordering ordering, Device device) {
  if (ordering == Ordering::given) return nullptr;
  // A GPU finds clusters in less time than a file is read.
  const bool made_in_no_time = ordering == Ordering::cluster && device == Device::cuda;
  if (!cache.used() || made_in_no_time) return order_matrix(matrix, ordering, device);
  const Stopwatch watch;
  key.add("ordering", to_string(ordering));
  if (auto order = cache.find_order(key, matrix->local_rows())) {
    std::shared_ptr<OrderedMatrix> ordered;
    collectively(matrix->comm, [&] {
      ordered = std::make_shared<OrderedMatrix>(matrix, ordering, *std::move(order));
    });
    ordered->add_seconds(watch.seconds() - ordered->seconds());
    return ordered;
  }
  auto ordered = order_matrix(matrix, ordering, device);
  cache.keep_order(key, ordered->order(), max_over_ranks(matrix->comm, ordered->seconds()));
  return ordered;
}

}  // namespace trireme
