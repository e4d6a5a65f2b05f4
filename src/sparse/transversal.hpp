// SPDX-License-Identifier: BSD-3-Clause
// The rows of a square matrix matched with its columns, each row by one of its entries: as many
// rows as the pattern allows. Where all rows can be matched, no other matching has a larger product
// of entries, and scales of rows and columns show it (Duff and Koster, SIAM J. Matrix Anal. Appl.
// 22, 2001, sections 2 to 4).
//
// Entries that are 0 count as absent. All functions throw Error{input} for a matrix that is not
// square or has a value that is not finite. They take O(n (nnz + n log n)) time at worst, and for
// most matrices little more than a few passes over the entries.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme {

// How many rows can be matched. A matrix of less than full structural rank is singular, whatever
// the values of its entries are.
struct StructuralRank {
  std::int64_t rank = 0;
  std::vector<std::int32_t> unmatched_rows;  // of one such matching; ascending
};

StructuralRank structural_rank(const CsrView<double>& a);

// Where every row is matched, |a_ij| 2^(row_log2[i] + column_log2[j]) is at most 1, and is 1 for
// matched entries, but for rounding.
struct Transversal {
  StructuralRank structure;
  // A permutation. Unmatched rows have their own columns, as far as these are free, or others.
  std::vector<std::int32_t> column_of_row;
  std::vector<double> row_log2, column_log2;

  bool is_perfect() const { return structure.unmatched_rows.empty(); }
};

Transversal maximum_product_transversal(const CsrView<double>& a);

}  // namespace trireme
