// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator as two products with the transposed prolongator.
#include "multigrid/triple_product.hpp"

#include <algorithm>
#include <utility>

#include "multigrid/diagonal_repair.hpp"
#include "multigrid/host_place.hpp"
#include "multigrid/row_checks.hpp"

namespace trireme::multigrid {
TripleProduct::TripleProduct(const LocalRows& a, const CsrView<double>& p,
                             const CsrView<double>& p_ghost, std::int32_t run)
    : run_(run), p_transposed_(transposed(p)) {
  const CsrView<double> restriction = p_transposed_.matrix.view();
  a_p_ = multiply(a.local, p, first_rules());
  local_ = multiply(restriction, a_p_.view(), local_rules());
  if (a.ghost.nnz() > 0) {
    a_p_ghost_ = multiply(a.ghost, p_ghost, first_rules());
    ghost_ = multiply(restriction, a_p_ghost_.view(), ghost_rules());
  } else {
    ghost_.rows = p.cols;
    ghost_.cols = p_ghost.cols;
    ghost_.row_ptr.assign(p.cols + 1, 0);
  }
  forget_values();
  repair_diagonal(a);
}

void TripleProduct::renew(const LocalRows& a, const CsrView<double>& p,
                          const CsrView<double>& p_ghost) {
  p_transposed_.renew(p);
  a_p_.values.resize(a_p_.col_idx.size());
  a_p_ghost_.values.resize(a_p_ghost_.col_idx.size());
  multiply_again(a.local, p, first_rules(), a_p_);
  multiply_again(p_transposed_.matrix.view(), a_p_.view(), local_rules(), local_);
  if (a.ghost.nnz() > 0) {
    multiply_again(a.ghost, p_ghost, first_rules(), a_p_ghost_);
    multiply_again(p_transposed_.matrix.view(), a_p_ghost_.view(), ghost_rules(), ghost_);
  }
  forget_values();
  repair_diagonal(a);
}

// Of A P, the pattern is enough until the next renewal.
void TripleProduct::forget_values() {
  for (CsrMatrix<double>* m : {&a_p_, &a_p_ghost_}) Array<double>().swap(m->values);
}

std::int64_t TripleProduct::bytes() const {
  std::int64_t sum = static_cast<std::int64_t>(p_transposed_.source.size()) * 4;
  for (const CsrMatrix<double>* m : {&p_transposed_.matrix, &a_p_, &a_p_ghost_, &local_, &ghost_})
    sum += static_cast<std::int64_t>(m->row_ptr.size() + m->col_idx.size()) * 4 + m->nnz() * 8;
  return sum;
}

void TripleProduct::repair_diagonal(const LocalRows& a) {
  const Array<double> weights = column_weights(p_transposed_.matrix, checked_diagonal(a));
  const double largest =
      HostPlace::maximum(local_.rows, 0.0, [&](std::int64_t c) { return weights[c]; });
  repaired_ = multigrid::repair_diagonal(local_, weights, largest > 0 ? largest : 1);
}

}  // namespace trireme::multigrid
