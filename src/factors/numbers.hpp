// SPDX-License-Identifier: BSD-3-Clause
// The numbers of incomplete factors: A is near (I + L) D (I + U), with L strictly lower and U
// strictly upper, on a given pattern (Saad, "Iterative Methods for Sparse Linear Systems", 2003,
// algorithm 10.3, row by row). An application is
//
//   y = (I + L)^-1 r     z = (I + U)^-1 D^-1 y
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "factors/pattern.hpp"
#include "sparse/csr.hpp"

namespace trireme::factors {

struct FactorNumbers {
  Array<double> values;       // of the pattern's entries; the diagonal has D^-1
  std::int64_t replaced = 0;  // pivots
  double shift = 0;           // part of the diagonal of A that was added to it
};

// `a` has the pattern that `pattern` was made of. The bits are the same for any number of threads.
//
// Pivots that are too small are replaced (rules.hpp). With `definite`, which needs a symmetric `a`,
// a pivot that is not positive begins the work anew with a larger diagonal (Manteuffel, "An
// Incomplete Factorization Technique for Positive Definite Linear Systems", Math. Comp. 34, 1980),
// and U is the transposed of L to the bit where the pattern is symmetric.
FactorNumbers make_numbers(const FactorPattern& pattern, const CsrView<double>& a, bool definite);

}  // namespace trireme::factors
