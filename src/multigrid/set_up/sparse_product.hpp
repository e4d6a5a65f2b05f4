// SPDX-License-Identifier: BSD-3-Clause
// Products and transposes of sparse matrices on the host.
//
// The product is row by row (Gustavson, ACM Trans. Math. Softw. 4, 1978): row i of A B is the sum
// of the rows of B that the entries of row i of A name. Sums are taken in the order of the entries
// of A and B, so that the same pattern and values give the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

struct ProductRules {
  ColumnOrder order = ColumnOrder::ascending;
  bool diagonal = false;  // each row i of the product gets an entry (i, i)
  // The rows of B consist of runs of so many columns that begin at a multiple of it and ascend, as
  // those of a prolongator do. The product is faster then, and has such runs too.
  std::int32_t run = 1;
};

// Returns A B. An entry is stored where A and B have stored entries that meet, even if the sum is
// 0. Throws Error{internal} where the sizes do not agree, Error{resource} for more than 2^31-1
// nonzeros.
CsrMatrix<double> multiply(const CsrView<double>& a, const CsrView<double>& b,
                           const ProductRules& rules = {});

// Computes the numbers of `product` again, which multiply() made from matrices of these patterns by
// the same rules.
void multiply_again(const CsrView<double>& a, const CsrView<double>& b, const ProductRules& rules,
                    CsrMatrix<double>& product);

// The pattern of A^T. Columns ascend, because the rows of A are read in their order.
struct TransposedPattern {
  Array<std::int32_t> row_ptr, col_idx;
  Array<std::int32_t> source;  // entry k is entry source[k] of A
};
TransposedPattern transposed_pattern(std::int64_t cols, std::span<const std::int32_t> row_ptr,
                                     std::span<const std::int32_t> col_idx);

// A^T with ascending columns.
struct Transposed {
  CsrMatrix<double> matrix;
  Array<std::int32_t> source;  // matrix.values[k] is values[source[k]] of A

  // Takes the values of A again, which has the same pattern.
  void renew(const CsrView<double>& a);
};
Transposed transposed(const CsrView<double>& a);

CsrMatrix<double> transpose(const CsrView<double>& a);

}  // namespace trireme::multigrid
