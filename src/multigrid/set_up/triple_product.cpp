// SPDX-License-Identifier: BSD-3-Clause
// Products of a rank's rows, and the sums of the terms of all ranks.
#include "multigrid/set_up/triple_product.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "multigrid/ranks/border_functors.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/ranks/node_exchange.hpp"
#include "multigrid/set_up/diagonal_repair.hpp"
#include "multigrid/set_up/fill_guard.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/members.hpp"
#include "multigrid/set_up/row_checks.hpp"
#include "parallel/collective.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

// Plain pointers of a matrix whose columns have other places in a sum.
struct Terms {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;
  const std::int32_t* place;  // by column

  Terms(const CsrMatrix<double>& m, const Array<std::int32_t>& places)
      : row_ptr(m.row_ptr.data()),
        col_idx(m.col_idx.data()),
        values(m.values.data()),
        place(places.data()) {}

  template <int kWidth, class Sums>
  TRIREME_HD void add(std::int64_t i, Sums& sums) const {
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; k += kWidth) {
      double* const run = sums.at(place[col_idx[k]] / kWidth);
      for (int c = 0; c < kWidth; ++c) run[c] += values[k + c];
    }
  }
};

// Adds up a coarse row. The rows of all terms consist of runs.
template <int kWidth>
struct SumRow {
  Terms own, received;
  const std::int32_t* first_received;
  const std::int32_t* received_row;

  template <class Sums>
  TRIREME_HD void operator()(std::int64_t i, Sums& sums) const {
    own.add<kWidth>(i, sums);
    for (std::int32_t k = first_received[i]; k < first_received[i + 1]; ++k)
      received.add<kWidth>(received_row[k], sums);
  }
};

}  // namespace

TripleProduct::TripleProduct(const ExtendedRows& a, const CsrView<double>& p, CoarseColumns columns,
                             std::int32_t run, std::int64_t most)
    : columns_(std::move(columns)), run_(run) {
  const MPI_Comm comm = columns_.comm;
  const std::int64_t own = columns_.own();
  const CsrView<double> rows = a.view().local;
  Array<std::int32_t> global;  // by column of P, then by column of the terms
  collectively(comm, [&] {
    const auto first = static_cast<std::int32_t>(columns_.first());
    for (std::int32_t j = 0; j < own; ++j) global.push_back(first + j);
    global.insert(global.end(), columns_.ghosts.begin(), columns_.ghosts.end());
  });
  p_ghost_ = GhostRows(comm, a.halo_of_columns(), p, global);
  std::int64_t least = 0;
  collectively(comm, [&] {
    stack_pattern(p);
    stack_values(p);
    runs_of_terms_ = multigrid::runs_of_terms(rows, of_all(p), run);
    least = least_coarse_nonzeros(rows, of_all(p), own, run, runs_of_terms_);
  });
  exceeds_ = sum_over_ranks(comm, least) > most;
  if (exceeds_) return;
  collectively(comm, [&] {
    p_transposed_ = transposed(p);
    a_p_ = multiply(rows, of_all(p), first_rules());
    terms_ = multiply(p_transposed_.matrix.view(), a_p_.view(), terms_rules());
    global.resize(own);
    global.insert(global.end(), columns_of_all_.begin(), columns_of_all_.end());
  });
  received_ = GhostRows(comm, columns_.back, terms_.view(), global);
  collectively(comm, [&] {
    adds_ = received_.rows().rows > 0 || !columns_of_all_.empty();
    if (!adds_) return;
    number_columns();
    Members members(columns_.halo.send_rows, static_cast<std::int32_t>(own));
    first_received_ = std::move(members.first);
    received_row_ = std::move(members.member);
    add_up(false);
  });
  repair(a);
  forget_values();
}

void TripleProduct::renew(const ExtendedRows& a, const CsrView<double>& p) {
  p_ghost_.renew(p);
  p_transposed_.renew(p);
  stack_values(p);
  a_p_.values.resize(a_p_.col_idx.size());
  terms_.values.resize(terms_.col_idx.size());
  multiply_again(a.view().local, of_all(p), first_rules(), a_p_);
  multiply_again(p_transposed_.matrix.view(), a_p_.view(), terms_rules(), terms_);
  received_.renew(terms_.view());
  if (adds_) add_up(true);
  repair(a);
  forget_values();
}

// Adds up the coarse rows, or only their values where the pattern is known.
void TripleProduct::add_up(bool again) {
  const std::int64_t own = columns_.own();
  with_width(run_, [&](auto width) {
    const SumRow<width> row{Terms(terms_, place_of_term_),
                            Terms(received_.rows(), place_of_received_), first_received_.data(),
                            received_row_.data()};
    if (again)
      refill_rows<width>(sum_, row);
    else
      sum_ = make_rows<width>(own, own + std::ssize(others_), ColumnOrder::ascending, row);
  });
}

Array<std::int32_t> place_of_ghosts(const CoarseColumns& columns,
                                    const Array<std::int32_t>& of_ghosts,
                                    Array<std::int32_t>& all) {
  const std::int64_t first = columns.first(), own = columns.own();
  all = columns.ghosts;
  Array<std::int32_t> place(of_ghosts.size());
  std::size_t next = 0;  // both lists ascend
  for (std::size_t j = 0; j < place.size(); ++j) {
    const std::int32_t global = of_ghosts[j];
    while (next < columns.ghosts.size() && columns.ghosts[next] < global) ++next;
    if (global >= first && global < first + own) {
      place[j] = static_cast<std::int32_t>(global - first);
    } else if (next < columns.ghosts.size() && columns.ghosts[next] == global) {
      place[j] = static_cast<std::int32_t>(own + static_cast<std::int64_t>(next));
    } else {
      place[j] = static_cast<std::int32_t>(own + std::ssize(all));
      all.push_back(global);
    }
  }
  return place;
}

// Puts the ghosts' rows of P below this rank's. Their columns that this rank's rows lack come last.
void TripleProduct::stack_pattern(const CsrView<double>& p) {
  const CsrMatrix<double>& ghosts = p_ghost_.rows();
  const Array<std::int32_t> place = place_of_ghosts(columns_, p_ghost_.columns(), columns_of_all_);
  if (ghosts.rows == 0) return;
  const std::int64_t own = columns_.own();
  p_all_.rows = p.rows + ghosts.rows;
  p_all_.cols = own + std::ssize(columns_of_all_);
  p_all_.row_ptr.resize(p_all_.rows + 1);
  p_all_.col_idx.resize(p.nnz() + ghosts.nnz());
  HostPlace::for_each(p.rows, [&](std::int64_t i) { p_all_.row_ptr[i] = p.row_ptr[i]; });
  HostPlace::for_each(ghosts.rows + 1, [&](std::int64_t g) {
    p_all_.row_ptr[p.rows + g] = static_cast<std::int32_t>(p.nnz() + ghosts.row_ptr[g]);
  });
  HostPlace::for_each(p.nnz(), [&](std::int64_t k) { p_all_.col_idx[k] = p.col_idx[k]; });
  HostPlace::for_each(ghosts.nnz(), [&](std::int64_t k) {
    p_all_.col_idx[p.nnz() + k] = place[ghosts.col_idx[k]];
  });
}

void TripleProduct::stack_values(const CsrView<double>& p) {
  if (p_ghost_.rows().rows == 0) return;
  p_all_.values.resize(p_all_.col_idx.size());
  const Array<double>& ghosts = p_ghost_.rows().values;
  HostPlace::for_each(p.nnz(), [&](std::int64_t k) { p_all_.values[k] = p.values[k]; });
  HostPlace::for_each(std::ssize(ghosts),
                      [&](std::int64_t k) { p_all_.values[p.nnz() + k] = ghosts[k]; });
}

// Gives the columns of all terms their places in the sum.
void TripleProduct::number_columns() {
  const std::int64_t first = columns_.first(), own = columns_.own();
  Array<std::int32_t> all = columns_of_all_;
  all.insert(all.end(), received_.columns().begin(), received_.columns().end());
  others_ = others_among(all, first, own);
  const LocalNumbers place(first, own, others_);
  for (std::int32_t j = 0; j < own; ++j) place_of_term_.push_back(j);
  for (const std::int32_t column : columns_of_all_) place_of_term_.push_back(place(column));
  for (const std::int32_t column : received_.columns()) place_of_received_.push_back(place(column));
}

void TripleProduct::repair(const ExtendedRows& a) {
  const std::int64_t columns = p_transposed_.matrix.rows, own = columns_.own();
  Array<double> weights;
  collectively(columns_.comm, [&] {
    weights = column_weights(p_transposed_.matrix, checked_diagonal(a.view()));
    weights.resize(columns + columns_.back.ghosts);
  });
  const NodeExchange back(columns_.comm, columns_.back, columns);
  back.fetch(std::span(weights));
  const Array<std::int32_t>& rows = columns_.halo.send_rows;
  for (std::size_t k = 0; k < rows.size(); ++k)
    weights[rows[k]] += weights[columns + static_cast<std::int64_t>(k)];
  const double largest =
      back.max(HostPlace::maximum(own, 0.0, [&](std::int64_t c) { return weights[c]; }));
  repaired_ = repair_diagonal(adds_ ? sum_ : terms_, weights, largest > 0 ? largest : 1);
}

// Of all but the coarse rows, the pattern is enough until the next renewal.
void TripleProduct::forget_values() {
  for (CsrMatrix<double>* m : {&p_all_, &a_p_, &terms_})
    if (m != &coarse()) Array<double>().swap(m->values);
  p_ghost_.forget_values();
  received_.forget_values();
}

CsrMatrix<double> TripleProduct::rows() const {
  return with_global_columns(coarse(), columns_, others_);
}

CsrMatrix<double> with_global_columns(const CsrMatrix<double>& from, const CoarseColumns& columns,
                                      std::span<const std::int32_t> others) {
  CsrMatrix<double> rows{from.rows, columns.starts.back(), from.row_ptr,
                         Array<std::int32_t>(from.col_idx.size()),
                         Array<double>(from.values.size())};
  HostPlace::for_each(
      from.rows, MakeRowGlobal{MatrixPointers(from), static_cast<std::int32_t>(columns.first()),
                               static_cast<std::int32_t>(columns.own()), others.data(),
                               rows.col_idx.data(), rows.values.data()});
  return rows;
}

std::int64_t TripleProduct::bytes() const {
  std::int64_t sum = static_cast<std::int64_t>(p_transposed_.source.size()) * 4 + p_ghost_.bytes() +
                     received_.bytes();
  for (const CsrMatrix<double>* m : {&p_transposed_.matrix, &p_all_, &a_p_, &terms_, &sum_})
    sum += static_cast<std::int64_t>(m->row_ptr.size() + m->col_idx.size()) * 4 + m->nnz() * 8;
  for (const Array<std::int32_t>* m : {&columns_of_all_, &others_, &place_of_term_,
                                       &place_of_received_, &first_received_, &received_row_})
    sum += std::ssize(*m) * 4;
  return sum;
}

}  // namespace trireme::multigrid
