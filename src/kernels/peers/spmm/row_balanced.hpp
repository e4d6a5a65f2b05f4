// SPDX-License-Identifier: BSD-3-Clause
// The three walks that share the rows, whatever their lengths. Each writes every row of Y once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/peers/spmm/product.hpp"
#include "kernels/peers/spmm/warp.hpp"

namespace trireme::spmm {

// A thread per row and vector:
//
//   row r   | e0 e1 e2 e3 e4 |   thread (r, j):  y(r,j) = e0 x(c0,j) + e1 x(c1,j) + ...
//
// Bytes moved (double): 12 per nonzero and vector, because each vector is another walk.
template <class Value>
void row_thread(const Product<Value>& product) {
  const CsrView<Value>& a = product.a;
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t j = 0; j < product.width(); ++j)
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const Product<Value> one = product.vectors(j, 1);
      HostSumOf<Value> sum{};
      for (std::int64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) multiply_add(one, k, &sum);
      store(one, row, &sum);
    }
}

// A warp per row and tile. The lanes read 32 nonzeros together, and shuffles bring each of them to
// all lanes. Lane j multiplies it by vector j:
//
//   row r   | e0 e1 .. e31 | e32 ..    lane j:  y(r,j) = e0 x(c0,j) + e1 x(c1,j) + ...
//             l0 l1 .. l31   l0        reads e_j, e_j+32, ..
//
// Bytes moved (double): 12 per nonzero and tile. The reads of X are whole lines.
template <class Value>
void row_warp(const Product<Value>& product) {
  const CsrView<Value>& a = product.a;
  for_each_tile(product, kTile, [&](const Product<Value>& tile) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < a.rows; ++row) {
      HostSumOf<Value> sums[kTile] = {};  // one per lane
      for (std::int64_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
        multiply_add(tile, k, sums);
      store(tile, row, sums);
    }
  });
}

// A warp per row and tile. Each lane multiplies the nonzeros that it reads by all vectors of the
// tile, and a tree adds the sums of the lanes:
//
//   row r   | e0 e1 .. e31 | e32 ..    lane l:  s(l,j) = e_l x(c_l,j) + e_l+32 x(c_l+32,j) + ...
//             l0 l1 .. l31   l0        y(r,j) = tree over l of s(l,j)
//
// Bytes moved (double): 12 per nonzero and tile.
template <class Value>
void row_reduce(const Product<Value>& product) {
  const CsrView<Value>& a = product.a;
  for_each_tile(product, kTile, [&](const Product<Value>& tile) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < a.rows; ++row) {
      WarpSums<Value> sums;
      sums.clear(tile.width());
      const std::int64_t begin = a.row_ptr[row], end = a.row_ptr[row + 1];
      for (std::int64_t k = begin; k < end; ++k)
        multiply_add(tile, k, sums.of[(k - begin) % kLanes]);
      reduce(sums, tile.width());
      store(tile, row, sums.of[0]);
    }
  });
}

}  // namespace trireme::spmm
