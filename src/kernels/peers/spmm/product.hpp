// SPDX-License-Identifier: BSD-3-Clause
// What all walks of the host executor have in common: their operands, tiles of vectors, the row of
// a nonzero, and the end of a row's sum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/host_sum.hpp"
#include "kernels/peers/spmm/split.hpp"
#include "sparse/csr.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::spmm {

// Y = A X, or Y += A X where `add`. The vectors lie side by side.
template <class Value>
struct Product {
  CsrView<Value> a;
  MultiVector<const Value> x;
  MultiVector<Value> y;
  bool add = false;

  std::int64_t width() const { return x.width; }
  // The same product of some of the vectors.
  Product vectors(std::int64_t first, std::int64_t count) const {
    return {a, x.vectors(first, count), y.vectors(first, count), add};
  }
};

// Calls walk(product) for the vectors 0 .. size - 1, then for the next `size`, and so on. The
// last tile may have fewer vectors.
template <class Value, class Walk>
void for_each_tile(const Product<Value>& all, std::int64_t size, Walk&& walk) {
  for (std::int64_t first = 0; first < all.width(); first += size)
    walk(all.vectors(first, std::min(size, all.width() - first)));
}

// sums[j] += A's nonzero k times its entry of vector j, for each vector of a tile.
template <class Value>
void multiply_add(const Product<Value>& tile, std::int64_t k, HostSumOf<Value>* sums) {
  const Value value = tile.a.values[k];
  const Value* x = tile.x.row(tile.a.col_idx[k]);
  for (std::int64_t j = 0; j < tile.width(); ++j) sums[j] += term_of_sum(value, x[j]);
}

// Ends the sums of a whole row.
template <class Value>
void store(const Product<Value>& tile, std::int64_t row, const HostSumOf<Value>* sums) {
  Value* y = tile.y.row(row);
  for (std::int64_t j = 0; j < tile.width(); ++j) store_or_add(y[j], sums[j], tile.add);
}

// The row of nonzero k, by binary search. Empty rows are never the result.
template <class Value>
std::int64_t row_of(const CsrView<Value>& a, std::int64_t k) {
  return std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), k) - a.row_ptr.begin() - 1;
}

}  // namespace trireme::spmm
