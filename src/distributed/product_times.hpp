// SPDX-License-Identifier: BSD-3-Clause
// How long each product took: the last ones one by one, all of them in sum.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace trireme {

// Microseconds of one product (local + ghost + halo wait) on the slowest rank.
struct ProductTiming {
  std::int64_t count = 0;
  double mean = 0, median = 0, p95 = 0, min = 0, max = 0;
};

// Keeps the last `capacity` products; recording costs one store.
class ProductTimes {
 public:
  explicit ProductTimes(std::size_t capacity = 1 << 16) : ring_(capacity) {}

  void record(double seconds) {
    ring_[count_++ % ring_.size()] = static_cast<float>(1e6 * seconds);
  }
  // Products that were made but not timed one by one.
  void count_unseen(std::size_t products) { unseen_ += products; }
  std::int64_t count() const { return static_cast<std::int64_t>(count_ + unseen_); }
  void clear() { count_ = unseen_ = 0; }

  // Microseconds of each product that was kept on this rank, oldest first.
  std::vector<float> kept() const;

  // The same of the rank that was slowest in each product.
  // All ranks must have recorded the same products. Collective.
  std::vector<float> slowest(MPI_Comm comm) const;

 private:
  std::vector<float> ring_;  // microseconds
  std::size_t count_ = 0;    // recorded
  std::size_t unseen_ = 0;
};

// Statistics of microseconds; `count` may exceed the samples that were kept.
ProductTiming summarise(std::vector<float> microseconds, std::int64_t count);

}  // namespace trireme
