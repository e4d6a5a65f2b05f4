// SPDX-License-Identifier: BSD-3-Clause
// Puts the rows and unknowns of a system into another order on the host: P A P^T, P b, P^T x.
// kernels/permutation.hpp has the same for a GPU.
//
// An order has one element per row: the caller's row at each new position.
#pragma once

#include <cstdint>
#include <span>

#include "sparse/csr.hpp"

namespace trireme {

struct PermutedCsr {
  CsrMatrix<double> matrix;
  Array<std::int32_t> entries;  // the caller's entry of each entry of `matrix`
};

// P A P^T of a square A. The columns of each row ascend; equal columns keep their order.
PermutedCsr permuted_square(const CsrView<double>& a, std::span<const std::int32_t> order);
// P A: rows change their places, and their entries stay as they are.
PermutedCsr permuted_rows(const CsrView<double>& a, std::span<const std::int32_t> order);

// The position of each of the caller's rows.
Array<std::int32_t> inverse_of(std::span<const std::int32_t> order);

// permuted[i] = x[order[i]], and back, for double and float. The spans do not overlap.
template <class Value>
void permute(std::span<const Value> x, std::span<const std::int32_t> order,
             std::span<Value> permuted);
template <class Value>
void permute_back(std::span<const Value> permuted, std::span<const std::int32_t> order,
                  std::span<Value> x);

}  // namespace trireme
