// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator as two products with the transposed prolongator.
#include "multigrid/set_up/triple_product.hpp"

#include <algorithm>
#include <utility>

#include "multigrid/set_up/diagonal_repair.hpp"
#include "multigrid/set_up/fill_guard.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/row_checks.hpp"

namespace trireme::multigrid {

TripleProduct::TripleProduct(const LocalRows& a, const CsrView<double>& p, std::int32_t run,
                             std::int64_t most)
    : run_(run),
      runs_of_terms_(multigrid::runs_of_terms(a.local, p, run)),
      exceeds_(least_coarse_nonzeros(a.local, p, p.cols, run, runs_of_terms_) > most) {
  if (exceeds_) return;
  p_transposed_ = transposed(p);
  a_p_ = multiply(a.local, p, first_rules());
  coarse_ = multiply(p_transposed_.matrix.view(), a_p_.view(), coarse_rules());
  forget_values();
  repair_diagonal(a);
}

void TripleProduct::renew(const LocalRows& a, const CsrView<double>& p) {
  p_transposed_.renew(p);
  a_p_.values.resize(a_p_.col_idx.size());
  multiply_again(a.local, p, first_rules(), a_p_);
  multiply_again(p_transposed_.matrix.view(), a_p_.view(), coarse_rules(), coarse_);
  forget_values();
  repair_diagonal(a);
}

// Of A P, the pattern is enough until the next renewal.
void TripleProduct::forget_values() { Array<double>().swap(a_p_.values); }

std::int64_t TripleProduct::bytes() const {
  std::int64_t sum = static_cast<std::int64_t>(p_transposed_.source.size()) * 4;
  for (const CsrMatrix<double>* m : {&p_transposed_.matrix, &a_p_, &coarse_})
    sum += static_cast<std::int64_t>(m->row_ptr.size() + m->col_idx.size()) * 4 + m->nnz() * 8;
  return sum;
}

void TripleProduct::repair_diagonal(const LocalRows& a) {
  const Array<double> weights = column_weights(p_transposed_.matrix, checked_diagonal(a));
  const double largest =
      HostPlace::maximum(coarse_.rows, 0.0, [&](std::int64_t c) { return weights[c]; });
  repaired_ = multigrid::repair_diagonal(coarse_, weights, largest > 0 ? largest : 1);
}

}  // namespace trireme::multigrid
