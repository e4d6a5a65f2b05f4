// SPDX-License-Identifier: BSD-3-Clause
// Whether several right-hand sides are solved together or one after another, where `solver.block`
// is auto. A rule of bytes, not of timings: the last bits of a solution depend on the answer.
#pragma once

#include <cstdint>

namespace trireme {

// A block of fewer columns is not made unasked. Eight columns of a row fill a cache line of a CPU,
// where blocks of two to seven take 1.1 to 4 times as long per column.
inline constexpr std::int64_t kLeastOnGpus = 4, kLeastOnCpus = 8;
constexpr std::int64_t least_block(bool on_gpu) { return on_gpu ? kLeastOnGpus : kLeastOnCpus; }

// Bytes of all vectors of one right-hand side, where bytes(width) is what a block takes. Widths
// that are multiples of eight have no padding.
template <class Bytes>
double bytes_per_column(const Bytes& bytes) {
  return static_cast<double>(bytes(2 * kLeastOnCpus) - bytes(kLeastOnCpus)) / kLeastOnCpus;
}

// Of one rank.
struct BlockTraffic {
  double matrix = 0;  // bytes that the product with one vector reads
  double nonzeros = 0;
  int products = 1;   // per iteration
  double column = 0;  // bytes_per_column()
  double cache = 0;   // on CPUs: bytes of the last-level cache that this rank may fill
  std::int64_t width = 0;
};

// An iteration and right-hand side, as the bytes that memory would move in the same time.
struct BlockCosts {
  double alone = 0, together = 0;
};
BlockCosts block_costs(const BlockTraffic& traffic, bool on_gpu);

// The last-level cache as the system reports it, for one of `ranks` that share it.
double last_cache_bytes(int ranks);

}  // namespace trireme
