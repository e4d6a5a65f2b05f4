// SPDX-License-Identifier: BSD-3-Clause
// The times of products: those of the last ones, and the number of all.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/stopwatch.hpp"

namespace trireme {

// Statistics in microseconds per product (local block, ghost block and wait for the halo).
struct ProductTiming {
  std::int64_t count = 0;
  double mean = 0, median = 0, p95 = 0, min = 0, max = 0;
};

// Keeps the times of the last `capacity` products. To record one costs one store.
class ProductTimes {
 public:
  explicit ProductTimes(std::size_t capacity = 1 << 16) : ring_(capacity) {}

  void record(double seconds) {
    ring_[count_++ % ring_.size()] = static_cast<float>(1e6 * seconds);
  }
  // Counts products whose times are unknown.
  void count_unseen(std::size_t products) { unseen_ += products; }
  std::int64_t count() const { return static_cast<std::int64_t>(count_ + unseen_); }
  void clear() { count_ = unseen_ = 0; }

  // Microseconds of each product that was kept on this rank, oldest first.
  std::vector<float> kept() const;

  // For each product the maximum over the ranks, which must have recorded the same products.
  // Collective.
  std::vector<float> slowest(MPI_Comm comm) const;

 private:
  std::vector<float> ring_;  // microseconds
  std::size_t count_ = 0;    // recorded
  std::size_t unseen_ = 0;
};

// Statistics of the samples; `count`, which may exceed their number, becomes ProductTiming::count.
ProductTiming summarise(std::vector<float> microseconds, std::int64_t count);

// Median microseconds of `product`, called that many times after one call that is not timed.
template <class Product>
double median_us(int products, const Product& product) {
  product();
  std::vector<float> us;
  for (int done = 0; done < products; ++done) {
    const Stopwatch watch;
    product();
    us.push_back(static_cast<float>(1e6 * watch.seconds()));
  }
  return summarise(std::move(us), products).median;
}

}  // namespace trireme
