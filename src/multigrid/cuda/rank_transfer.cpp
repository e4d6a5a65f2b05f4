// SPDX-License-Identifier: BSD-3-Clause
// Prolongators, and the coarse rows of triple_product.hpp with their terms for other ranks.
#include <algorithm>
#include <utility>

#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/device_transfer.hpp"
#include "multigrid/cuda/rank_rows.hpp"
#include "multigrid/cuda/rank_set_up_parts.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/ranks/node_exchange.hpp"
#include "multigrid/set_up/members.hpp"
#include "multigrid/set_up/triple_product.hpp"

namespace trireme::multigrid {

template <class Use>
void RankSetUp::Parts::with_rules(std::size_t l, const ScratchBuffer<double>& diagonal,
                                  const Use& use) {
  Level& level = *levels[l];
  Transfer& t = *level.transfer;
  const DeviceProlongatorTask task{
      t.strong.view(), level.node_size, diagonal.view(), t.smoothed, t.aggregate_of_node.view(),
      t.aggregates,    &t.tentative};
  t.radius = with_prolongator_rules(level.a, x, task, stream, rank_of_rows(l), use);
  if (level.ghosts->max(t.strong.empty() ? 0 : 1) > 0) t.radius = 0;
}

DeviceRows RankSetUp::Parts::made_transfer(std::size_t l, const ScratchBuffer<double>& diagonal) {
  Level& level = *levels[l];
  Transfer& t = *level.transfer;
  Stopwatch watch;
  with_rules(l, diagonal, [&](const DeviceProlongatorRules& rules) {
    level.p = make_prolongator(rules, stream);
  });
  if (!x.empty()) scale_rows(x.view(), level.p, stream);
  seconds.prolongator += lap(watch);
  DeviceTransposed restriction = transposed(level.p.view(), stream);
  level.p_transposed = std::move(restriction.matrix);
  t.source = std::move(restriction.source);
  DeviceRows coarse = product(level, t, l);
  repair(level, t, diagonal, coarse);
  forget_values(t);
  seconds.products += lap(watch);
  return coarse;
}

const DeviceRows& RankSetUp::Parts::of_all(const Level& level) const {
  return level.transfer->p_all.row_ptr.empty() ? level.p : level.transfer->p_all;
}

CsrMatrix<double> RankSetUp::Parts::sent_rows(const Level& level) const {
  return rows_on_host(level.p.view(), level.columns.send_rows, stream);
}

CsrMatrix<double> RankSetUp::Parts::sent_terms(const DeviceRows& terms, const Transfer& t) const {
  const std::int64_t own = t.columns.own();
  return rows_on_host(terms.view(), numbers_from(own, terms.rows - own), stream);
}

std::int32_t RankSetUp::Parts::rows_together(std::size_t l) const {
  return l > 0 || nodes_share ? levels[l]->node_size : 1;
}

DeviceRows RankSetUp::Parts::product(Level& level, Transfer& t, std::size_t l) {
  const std::int64_t own = t.columns.own();
  const std::int32_t run = t.tentative.width;
  Array<std::int32_t> global = numbers_from(t.columns.first(), own);
  global.insert(global.end(), t.columns.ghosts.begin(), t.columns.ghosts.end());
  t.p_all = {};
  {
    const CsrMatrix<double> sent = sent_rows(level);
    level.ghosts->agree();
    t.p_ghost = GhostRows(comm, of_packed(level.columns), sent.view(), global);
  }
  const Array<std::int32_t> place =
      place_of_ghosts(t.columns, t.p_ghost.columns(), t.columns_of_all);
  const std::int64_t columns = own + std::ssize(t.columns_of_all);
  if (t.p_ghost.rows().rows > 0) {
    CsrMatrix<double> ghosts = t.p_ghost.rows();
    for (std::int32_t& column : ghosts.col_idx) column = place[static_cast<std::size_t>(column)];
    t.p_all = stacked(level.p.view(), {}, ghosts.view(), columns, stream);
  }
  t.a_p = multiply(level.a, of_all(level).view(), false, run, stream, rows_together(l));
  DeviceRows terms = multiply(level.p_transposed.view(), t.a_p.view(), true, run, stream, run);
  global = numbers_from(t.columns.first(), own);
  global.insert(global.end(), t.columns_of_all.begin(), t.columns_of_all.end());
  {
    const CsrMatrix<double> sent = sent_terms(terms, t);
    level.ghosts->agree();
    t.received = GhostRows(comm, of_packed(t.columns.back), sent.view(), global);
  }
  t.adds = t.received.rows().rows > 0 || !t.columns_of_all.empty();
  t.others = {};
  if (!t.adds) return terms;
  t.terms = std::move(terms);
  stack_terms(t);
  return multiply(t.selection.view(), t.all_terms.view(), false, run, stream);
}

void RankSetUp::Parts::stack_terms(Transfer& t) {
  const std::int64_t first = t.columns.first(), own = t.columns.own();
  CsrMatrix<double> received = t.received.rows();
  const DeviceCsr<double> terms = head_of(t.terms.view(), own, stream);
  // Some columns of all terms come only in those for other ranks.
  const Array<std::int32_t> outside = numbers_outside(terms.col_idx, 0, own, stream);
  const Array<std::int32_t> come = others_among(outside, 0, own);
  Array<std::int32_t> all = t.received.columns();
  for (const std::int32_t column : come)
    all.push_back(t.columns_of_all[static_cast<std::size_t>(column - own)]);
  t.others = others_among(std::span<const std::int32_t>(all), first, own);
  const LocalNumbers local(first, own, t.others);
  Array<std::int32_t> place = numbers_from(0, own + std::ssize(t.columns_of_all));
  for (const std::int32_t column : come)
    place[static_cast<std::size_t>(column)] =
        local(t.columns_of_all[static_cast<std::size_t>(column - own)]);
  for (std::int32_t& column : received.col_idx)
    column = local(t.received.columns()[static_cast<std::size_t>(column)]);
  const std::int64_t columns = own + std::ssize(t.others);
  t.all_terms = stacked(terms, place, received.view(), columns, stream);
  const Members members(t.columns.halo.send_rows, static_cast<std::int32_t>(own));
  t.selection = selection_of(own, received.rows, members.first, members.member, stream);
}

void RankSetUp::Parts::forget_values(Transfer& t) const {
  for (DeviceRows* rows : {&t.p_all, &t.a_p, &t.terms, &t.all_terms}) rows->values = {};
  t.p_ghost.forget_values();
  t.received.forget_values();
}

void RankSetUp::Parts::renew_transfer(std::size_t l) {
  Stopwatch watch;
  Level& level = *levels[l];
  Transfer& t = *level.transfer;
  DeviceRows& next = l + 1 < levels.size() ? levels[l + 1]->coarse_rows : next_of_last;
  together(comm, [&] {
    const RankOfRows rank = rank_of_rows(l);
    const ScratchBuffer<double> diagonal = checked_diagonal(level.a, stream, rank);
    if (l == 0 && !has_modes) x = relaxed_constants(level.a, level.node_size, stream, rank);
    with_rules(l, diagonal, [&](const DeviceProlongatorRules& rules) {
      refill_prolongator(rules, level.p, stream);
    });
    if (!x.empty()) scale_rows(x.view(), level.p, stream);
    x = {};
    seconds.prolongator += lap(watch);
    take_values(level.p, t.source.view(), level.p_transposed, stream);
    product_again(level, t, l, next);
    repair(level, t, diagonal, next);
    forget_values(t);
  });
  if (l + 1 < levels.size()) levels[l + 1]->a = next.view();
  seconds.products += lap(watch);
}

void RankSetUp::Parts::product_again(Level& level, Transfer& t, std::size_t l, DeviceRows& coarse) {
  const std::int32_t run = t.tentative.width;
  {
    const CsrMatrix<double> sent = sent_rows(level);
    level.ghosts->agree();
    t.p_ghost.renew(sent.view());
  }
  if (!t.p_all.row_ptr.empty())
    stack_values(level.p.view(), t.p_ghost.rows().values, t.p_all, stream);
  multiply_again(level.a, of_all(level).view(), false, run, t.a_p, stream, rows_together(l));
  DeviceRows& terms = t.adds ? t.terms : coarse;
  multiply_again(level.p_transposed.view(), t.a_p.view(), true, run, terms, stream, run);
  {
    const CsrMatrix<double> sent = sent_terms(terms, t);
    level.ghosts->agree();
    t.received.renew(sent.view());
  }
  if (!t.adds) return;
  stack_values(head_of(t.terms.view(), t.columns.own(), stream), t.received.rows().values,
               t.all_terms, stream);
  multiply_again(t.selection.view(), t.all_terms.view(), false, run, coarse, stream);
}

void RankSetUp::Parts::repair(const Level& level, const Transfer& t,
                              const ScratchBuffer<double>& diagonal, DeviceRows& coarse) const {
  const std::int64_t columns = level.p_transposed.rows, own = t.columns.own();
  Array<double> weights =
      to_host(column_weights(level.p_transposed.view(), diagonal.view(), stream).view(), stream);
  weights.resize(static_cast<std::size_t>(columns + t.columns.back.ghosts));
  level.ghosts->agree();
  NodeExchange(comm, t.columns.back, columns).fetch(std::span(weights));
  const Array<std::int32_t>& rows = t.columns.halo.send_rows;
  for (std::size_t k = 0; k < rows.size(); ++k)
    weights[static_cast<std::size_t>(rows[k])] += weights[static_cast<std::size_t>(columns) + k];
  weights.resize(static_cast<std::size_t>(own));
  const auto here = upload(std::span<const double>(weights), stream);
  const double largest = level.ghosts->max(largest_of(here.view(), stream));
  repair_diagonal(coarse, here.view(), largest, stream);
}

}  // namespace trireme::multigrid
