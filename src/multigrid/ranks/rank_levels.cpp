// SPDX-License-Identifier: BSD-3-Clause
// Cuts P and P^T at the borders of the ranks, and plans the exchanges.
#include "multigrid/ranks/rank_levels.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

double stored(double value, bool single) {
  return single ? static_cast<double>(static_cast<float>(value)) : value;
}

// The first `rows` rows.
CsrView<double> head(const CsrView<double>& m, std::int64_t rows) {
  const auto nnz = static_cast<std::size_t>(m.row_ptr[rows]);
  return {rows, m.cols, m.row_ptr.first(static_cast<std::size_t>(rows) + 1), m.col_idx.first(nnz),
          m.values.first(nnz)};
}

// The columns of P that this rank owns.
CsrMatrix<double> own_columns(const CsrView<double>& p, std::int64_t own) {
  CsrMatrix<double> part{.rows = p.rows, .cols = own, .row_ptr{}, .col_idx{}, .values{}};
  part.row_ptr.resize(p.rows + 1);
  part.row_ptr[0] = 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < p.rows; ++i) {
    std::int32_t count = 0;
    for (std::int32_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) count += p.col_idx[k] < own;
    part.row_ptr[i + 1] = count;
  }
  std::inclusive_scan(part.row_ptr.begin(), part.row_ptr.end(), part.row_ptr.begin());
  part.col_idx.resize(part.row_ptr.back());
  part.values.resize(part.row_ptr.back());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < p.rows; ++i) {
    std::int32_t to = part.row_ptr[i];
    for (std::int32_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) {
      if (p.col_idx[k] >= own) continue;
      part.col_idx[to] = p.col_idx[k];
      part.values[to++] = p.values[k];
    }
  }
  return part;
}

// P with the numbers that its columns have in the whole coarse vector.
CsrMatrix<double> whole_columns(const CsrView<double>& p, const CoarseColumns& columns) {
  CsrMatrix<double> all{
      .rows = p.rows, .cols = columns.starts.back(), .row_ptr{}, .col_idx{}, .values{}};
  all.row_ptr.assign(p.row_ptr.begin(), p.row_ptr.end());
  all.values.assign(p.values.begin(), p.values.end());
  all.col_idx.resize(p.col_idx.size());
  const std::int64_t own = columns.own(), first = columns.first();
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < p.col_idx.size(); ++k) {
    const std::int32_t column = p.col_idx[k];
    all.col_idx[k] =
        column < own ? static_cast<std::int32_t>(first + column) : columns.ghosts[column - own];
  }
  return all;
}

}  // namespace

BorderRows border_columns(const CsrView<double>& m, std::span<const std::int32_t> rows,
                          std::int64_t first, bool single) {
  BorderRows border;
  for (std::int64_t i = 0; i < m.rows; ++i) {
    const std::size_t before = border.columns.size();
    for (std::int32_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; ++k) {
      if (m.col_idx[k] < first) continue;
      border.columns.push_back(static_cast<std::int32_t>(m.col_idx[k] - first));
      border.values.push_back(stored(m.values[k], single));
    }
    if (border.columns.size() == before) continue;
    border.rows.push_back(rows.empty() ? static_cast<std::int32_t>(i)
                                       : rows[static_cast<std::size_t>(i)]);
    border.row_ptr.push_back(static_cast<std::int32_t>(border.columns.size()));
  }
  return border;
}

BorderRows border_tail(const CsrView<double>& m, std::int64_t first, bool single) {
  BorderRows border;
  for (std::int64_t i = first; i < m.rows; ++i) {
    for (std::int32_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; ++k) {
      border.columns.push_back(m.col_idx[k]);
      border.values.push_back(stored(m.values[k], single));
    }
    border.rows.push_back(static_cast<std::int32_t>(i - first));
    border.row_ptr.push_back(static_cast<std::int32_t>(border.columns.size()));
  }
  return border;
}

BorderRows received_terms(const Array<std::int32_t>& send_rows) {
  Array<std::int32_t> order(send_rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return send_rows[a] < send_rows[b]; });
  BorderRows border;
  for (const std::int32_t k : order) {
    if (border.rows.empty() || border.rows.back() != send_rows[k]) {
      border.rows.push_back(send_rows[k]);
      border.row_ptr.push_back(border.row_ptr.back());
    }
    border.columns.push_back(k);
    border.values.push_back(1);
    ++border.row_ptr.back();
  }
  return border;
}

namespace {

void cut_transfers(RankLevel& level, const HostRankLevel& of, bool to_whole) {
  const CoarseColumns& columns = *of.columns;
  const bool single = of.parts.transfer_precision == Precision::mixed;
  const std::int64_t own = columns.own();
  level.to_whole = to_whole;
  if (to_whole) {
    level.own_p = whole_columns(of.parts.p, columns);
    level.gathering = gathering(columns.comm, columns.starts, columns.ghosts);
  } else {
    level.own_p = own_columns(of.parts.p, own);
    level.p = border_columns(of.parts.p, {}, own, single);
    level.p_halo = columns.halo;
    level.others = border_tail(of.parts.restriction, own, single);
    level.back = columns.back;
    std::iota(level.back.send_rows.begin(), level.back.send_rows.end(), 0);
    level.received = received_terms(columns.halo.send_rows);
    level.parts.restriction = head(of.parts.restriction, own);
  }
  level.parts.p = level.own_p.view();
}

}  // namespace

BorderRows border_rows(const CsrView<double>& block, bool single) {
  BorderRows border;
  if (block.values.empty()) return border;
  for (std::int64_t i = 0; i < block.rows; ++i) {
    if (block.row_ptr[i] == block.row_ptr[i + 1]) continue;
    border.rows.push_back(static_cast<std::int32_t>(i));
    border.row_ptr.push_back(block.row_ptr[i + 1]);
  }
  border.columns.assign(block.col_idx.begin(), block.col_idx.end());
  for (const double value : block.values) border.values.push_back(stored(value, single));
  return border;
}

Gathering gathering(MPI_Comm comm, const std::vector<std::int64_t>& starts,
                    const Array<std::int32_t>& ghosts) {
  const int ranks = size_of(comm), rank = rank_of(comm);
  const auto mine = static_cast<int>(ghosts.size());
  std::vector<int> counts(ranks), places(ranks);
  MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  Array<std::int32_t> all(places.back() + counts.back());
  MPI_Allgatherv(ghosts.data(), mine, MPI_INT32_T, all.data(), counts.data(), places.data(),
                 MPI_INT32_T, comm);

  Gathering g;
  const auto terms_of = [&](int r) {
    return static_cast<std::int32_t>(starts[r + 1] - starts[r] + counts[r]);
  };
  g.terms = terms_of(rank);
  std::vector<std::int32_t> first_source(ranks, 0);
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) continue;
    first_source[r] = g.terms + g.plan.ghosts;
    if (terms_of(r) > 0) g.plan.receives.push_back({r, g.plan.ghosts, terms_of(r)});
    g.plan.ghosts += terms_of(r);
    if (g.terms == 0) continue;
    const auto offset = static_cast<std::int32_t>(g.plan.send_rows.size());
    g.plan.sends.push_back({r, offset, g.terms});
    for (std::int32_t k = 0; k < g.terms; ++k) g.plan.send_rows.push_back(k);
  }

  // One term of the owner, and those of the ghosts.
  const std::int64_t rows = starts.back();
  Array<std::int32_t> next(rows, 1);
  for (const std::int32_t row : all) ++next[row];
  g.row_ptr.resize(rows + 1);
  std::inclusive_scan(next.begin(), next.end(), g.row_ptr.begin() + 1);
  g.sources.resize(g.row_ptr.back());
  for (int r = 0; r < ranks; ++r)
    for (std::int64_t row = starts[r]; row < starts[r + 1]; ++row) {
      g.sources[g.row_ptr[row]] = first_source[r] + static_cast<std::int32_t>(row - starts[r]);
      next[row] = g.row_ptr[row] + 1;
    }
  for (int r = 0; r < ranks; ++r) {
    const auto own = static_cast<std::int32_t>(starts[r + 1] - starts[r]);
    for (int k = 0; k < counts[r]; ++k)
      g.sources[next[all[places[r] + k]]++] = first_source[r] + own + k;
  }
  return g;
}

std::vector<RankLevel> rank_levels(const HostRankParts& parts) {
  std::vector<RankLevel> levels(parts.distributed.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const HostRankLevel& of = parts.distributed[l];
    RankLevel& level = levels[l];
    level.parts = of.parts;
    level.a = border_rows(of.ghost->view(), of.parts.precision == Precision::mixed);
    level.halo = *of.halo;
    if (of.columns) cut_transfers(level, of, l + 1 == levels.size());
  }
  return levels;
}

}  // namespace trireme::multigrid
