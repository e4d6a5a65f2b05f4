// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator as two products with the transposed prolongator.
#include "multigrid/triple_product.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "multigrid/host_place.hpp"
#include "multigrid/row_checks.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

// A diagonal entry below this multiple of the sum of p_ic^2 |a_ii| is rounding.
constexpr double kRounding = 0x1p-44;

// Returns the sum of p_ic^2 |a_ii| for column c of P.
struct ColumnWeight {
  const std::int32_t* row_ptr;  // of P^T
  const std::int32_t* col_idx;
  const double* values;
  const double* diagonal;

  TRIREME_HD double operator()(std::int64_t c) const {
    double sum = 0;
    for (std::int32_t k = row_ptr[c]; k < row_ptr[c + 1]; ++k)
      sum += values[k] * values[k] * std::abs(diagonal[col_idx[k]]);
    return sum;
  }
};

struct Repair {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  double* values;
  const double* weight;
  double substitute;  // for columns without a weight

  // Returns whether the row needed it.
  TRIREME_HD double operator()(std::int64_t c) const {
    for (std::int32_t k = row_ptr[c]; k < row_ptr[c + 1]; ++k) {
      if (col_idx[k] != c) continue;
      if (std::abs(values[k]) > kRounding * weight[c]) return 0;
      values[k] = weight[c] > 0 ? weight[c] : substitute;
      return 1;
    }
    return 0;
  }
};

}  // namespace

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
  const CsrMatrix<double>& pt = p_transposed_.matrix;
  const Array<double> diagonal = checked_diagonal(a);
  Array<double> weight(local_.rows);
  const ColumnWeight find{pt.row_ptr.data(), pt.col_idx.data(), pt.values.data(), diagonal.data()};
  HostPlace::for_each(local_.rows, [&](std::int64_t c) { weight[c] = find(c); });
  const double largest =
      HostPlace::maximum(local_.rows, 0.0, [&](std::int64_t c) { return weight[c]; });
  repaired_ = static_cast<std::int64_t>(HostPlace::sum(
      local_.rows, Repair{local_.row_ptr.data(), local_.col_idx.data(), local_.values.data(),
                          weight.data(), largest > 0 ? largest : 1}));
}

}  // namespace trireme::multigrid
