// SPDX-License-Identifier: BSD-3-Clause
// Orders of the rows of a square matrix that let a product read x with more locality.
//
// An order has one element per row: the caller's row at each new position. It depends on the
// pattern of the matrix only, and it has the same elements for any number of threads.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "base/choices.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The order of the rows of `a`, which may have unsorted columns, empty rows and an unsymmetric
// pattern. The result is empty for Ordering::given. Throws Error{internal} for a matrix that is not
// square.
Array<std::int32_t> make_order(Ordering ordering, const CsrView<double>& a);

// Reverse Cuthill-McKee on the pattern of A + A^T (Cuthill and McKee, ACM 1969; George and Liu,
// "Computer Solution of Large Sparse Positive Definite Systems", 1981, section 4.3). Each connected
// part begins at a pseudo-peripheral row. Rows of a level follow the positions of their parents,
// then their numbers of entries, then their numbers.
Array<std::int32_t> reverse_cuthill_mckee(const CsrView<double>& a);

// Rows are paired along the strongest connections of the stored pattern, the pairs again, and so
// on, and the rows of a cluster are neighbours in the order; cluster_rules.hpp has the rules.
Array<std::int32_t> cluster_order(const CsrView<double>& a);

}  // namespace trireme
