// SPDX-License-Identifier: BSD-3-Clause
#include "planning/block_rule.hpp"

#include <unistd.h>

#include <algorithm>

namespace trireme {
namespace {

// From CG and BiCGSTAB on two cores of Zen 4 with 32 MB of cache, 2026-11-26; the times are in
// tests/planning/block_rule_test.cpp.
//
// An iteration moves each byte of its vectors so often: CG reads or writes 12 or 13 numbers per row
// of 5 vectors.
constexpr double kTimesMoved = 2.5;
// The product of a block does not read streams, as that of one vector does in stencils: it reads a
// row of X for each nonzero.
constexpr double kBytesPerNonzero = 2.5;
// The passes of a block take so much of the time of a pass of one column.
constexpr double kPassOfBlock = 1.5;
// What stays in the cache takes so much of the time.
constexpr double kInCache = 0.5;
// What an iteration takes whatever its size: beginning and ending what runs on all threads.
constexpr double kPerIteration = 4e5;
constexpr double kUsualCache = 32e6;

// From CG and BiCGSTAB on one H100, 2026-11-28; the times are in the same test. A launch that waits
// for the one before takes as long as so many bytes, and a product of one vector, whose matrix may
// take few bytes, as long as one byte per nonzero at least.
constexpr double kPerIterationOnGpu = 8e6;
constexpr double kLeastBytesPerNonzero = 1;
constexpr double kPassOfBlockOnGpu = 1.2;

BlockCosts costs_on_cpus(const BlockTraffic& traffic) {
  const auto width = static_cast<double>(traffic.width);
  const double vectors = kTimesMoved * traffic.column;
  const auto rate = [&](double columns) {
    return traffic.matrix + columns * traffic.column <= traffic.cache ? kInCache : 1;
  };
  const double moved_alone = traffic.products * traffic.matrix + vectors;
  const double moved_together =
      traffic.products * kBytesPerNonzero * traffic.nonzeros + kPassOfBlock * vectors;
  return {.alone = kPerIteration + rate(1) * moved_alone,
          .together = kPerIteration / width + rate(width) * moved_together};
}

BlockCosts costs_on_gpu(const BlockTraffic& traffic) {
  const auto width = static_cast<double>(traffic.width);
  const double vectors = kTimesMoved * traffic.column;
  const double product = std::max(traffic.matrix, kLeastBytesPerNonzero * traffic.nonzeros);
  return {.alone = kPerIterationOnGpu + traffic.products * product + vectors,
          .together = (kPerIterationOnGpu + traffic.products * traffic.matrix) / width +
                      kPassOfBlockOnGpu * vectors};
}

}  // namespace

BlockCosts block_costs(const BlockTraffic& traffic, bool on_gpu) {
  return on_gpu ? costs_on_gpu(traffic) : costs_on_cpus(traffic);
}

double last_cache_bytes(int ranks) {
  double bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = static_cast<double>(sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
  return (bytes > 0 ? bytes : kUsualCache) / ranks;
}

}  // namespace trireme
