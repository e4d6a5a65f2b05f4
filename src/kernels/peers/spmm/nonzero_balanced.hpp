// SPDX-License-Identifier: BSD-3-Clause
// The four walks that share the nonzeros: each thread or warp takes 32 of them, wherever rows begin
// and end. What becomes of a row that is cut is written in block_sums.hpp.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "kernels/peers/spmm/block_sums.hpp"
#include "kernels/peers/spmm/product.hpp"
#include "kernels/peers/spmm/warp.hpp"

namespace trireme::spmm {

// Goes through the nonzeros in order, and gives up its sums where a row ends:
//
//   row        0     1       2
//   nonzeros   a a | b b b | c c c      y(0) gets a a; y(1) gets b b b; y(2) gets c c c
//
// The row is searched once at the begin, and again where a row ends.
template <class Value>
void sum_in_order(const Product<Value>& tile, Range range, BlockSums<Value>& target) {
  const CsrView<Value>& a = tile.a;
  for (std::int64_t k = range.begin; k < range.end;) {
    const std::int64_t first = k, row = row_of(a, k);
    const std::int64_t end = std::min<std::int64_t>(range.end, a.row_ptr[row + 1]);
    HostSumOf<Value> sums[kTile] = {};
    for (; k < end; ++k) multiply_add(tile, k, sums);
    target.add(row, first, sums);
  }
}

// A thread per 32 nonzeros and vector. Each vector is another walk, with all its searches.
template <class Value>
void nnz_thread(const Product<Value>& product, Array<HostSumOf<Value>>& carries) {
  share_nonzeros(product, 1, kPerBlockOfThreads, carries, sum_in_order<Value>);
}

// A thread per 32 nonzeros and tile: one search for 32 vectors, whose sums the thread keeps.
template <class Value>
void nnz_tile(const Product<Value>& product, Array<HostSumOf<Value>>& carries) {
  share_nonzeros(product, kTile, kPerBlockOfThreads, carries, sum_in_order<Value>);
}

// A warp per 32 nonzeros and tile. Each lane reads one nonzero and searches its row, shuffles bring
// all of them to every lane ("row cache"), and lane j sums for vector j. On the host that is the
// walk of nnz_tile with smaller blocks.
template <class Value>
void nnz_cache(const Product<Value>& product, Array<HostSumOf<Value>>& carries) {
  share_nonzeros(product, kTile, kPerBlockOfWarps, carries, sum_in_order<Value>);
}

// Lane l multiplies nonzero begin + l by all vectors of the tile, and the lanes of a row add their
// products in a tree. Where all 32 nonzeros are of one row, the tree is that of the whole warp.
template <class Value>
void sum_in_trees(const Product<Value>& tile, Range range, BlockSums<Value>& target) {
  constexpr std::int64_t kNoRow = -1;  // of a lane behind the last nonzero
  WarpSums<Value> sums;
  sums.clear(tile.width());
  std::int64_t rows[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t k = range.begin + lane;
    rows[lane] = k < range.end ? row_of(tile.a, k) : kNoRow;
    if (k < range.end) multiply_add(tile, k, sums.of[lane]);
  }
  if (rows[0] == rows[kLanes - 1]) {
    reduce(sums, tile.width());
    return target.add(rows[0], range.begin, sums.of[0]);
  }
  reduce_segments(sums, rows, tile.width());
  for (int lane = 0; lane < kLanes; ++lane)
    if (rows[lane] != kNoRow && (lane == 0 || rows[lane] != rows[lane - 1]))
      target.add(rows[lane], range.begin + lane, sums.of[lane]);
}

// A warp per 32 nonzeros and tile.
template <class Value>
void nnz_warp(const Product<Value>& product, Array<HostSumOf<Value>>& carries) {
  share_nonzeros(product, kTile, kPerBlockOfWarps, carries, sum_in_trees<Value>);
}

}  // namespace trireme::spmm
