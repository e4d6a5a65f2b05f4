// SPDX-License-Identifier: BSD-3-Clause
// Sums over the lanes of a warp, in the order in which the shuffles of a GPU add them.
#pragma once

#include <cstdint>

#include "kernels/host_sum.hpp"
#include "kernels/peers/spmm/split.hpp"

namespace trireme::spmm {

// One number per lane and vector of a tile.
template <class Value>
struct WarpSums {
  HostSumOf<Value> of[kLanes][kTile];

  void clear(std::int64_t width) {
    for (auto& lane : of)
      for (std::int64_t j = 0; j < width; ++j) lane[j] = 0;
  }
  // Lane `to` adds what lane `from` holds.
  void shuffle_add(int to, int from, std::int64_t width) {
    for (std::int64_t j = 0; j < width; ++j) of[to][j] += of[from][j];
  }
};

// The tree  0 += 16, 1 += 17, ..; 0 += 8, ..; .. ; 0 += 1.  Lane 0 then holds the sum of all lanes.
template <class Value>
void reduce(WarpSums<Value>& sums, std::int64_t width) {
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    for (int lane = 0; lane < offset; ++lane) sums.shuffle_add(lane, lane + offset, width);
}

// The same within each run of lanes that have the same row: the first lane of the run then holds
// the sum of the run. Lanes of the same row are neighbours.
template <class Value>
void reduce_segments(WarpSums<Value>& sums, const std::int64_t (&rows)[kLanes],
                     std::int64_t width) {
  for (int offset = 1; offset < kLanes; offset *= 2)
    for (int lane = 0; lane + offset < kLanes; ++lane)  // upwards: lane + offset is not yet changed
      if (rows[lane] == rows[lane + offset]) sums.shuffle_add(lane, lane + offset, width);
}

}  // namespace trireme::spmm
