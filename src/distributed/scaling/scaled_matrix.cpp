// SPDX-License-Identifier: BSD-3-Clause
// A copy of the matrix: with its halo where columns keep their places, else distributed anew.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "distributed/scaling/ghost_numbers.hpp"
#include "distributed/scaling/system_scaling.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// Multiplies the values by 2^(rows + columns). Returns the first row with a value that exceeds the
// largest double; none: -1.
std::int64_t scale(std::span<const std::int32_t> rows, std::span<const double> columns,
                   CsrMatrix<double>& a) {
  std::int64_t first_bad = a.rows;
  for (const RowBlock<double>& block : a.blocks()) {
    const CsrView<double>& part = block.csr;
    double* const values = a.values.data() + block.first_entry;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (std::int64_t i = 0; i < part.rows; ++i) {
      const std::int32_t of_row = rows[block.first_row + i];
      for (std::int32_t k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k) {
        values[k] = std::ldexp(values[k], of_row + static_cast<int>(columns[part.col_idx[k]]));
        if (!std::isfinite(values[k])) first_bad = std::min(first_bad, block.first_row + i);
      }
    }
  }
  return first_bad == a.rows ? -1 : first_bad;
}

std::shared_ptr<DistributedMatrix> copy_of(const DistributedMatrix& matrix) {
  auto copy = std::make_shared<DistributedMatrix>(matrix);
  copy->on_device.reset();
  copy->row_sizes = {};
  return copy;
}

// The rows of `matrix` with each column at its new place. `places` of local columns, and of ghosts
// `ghost_places`, are global.
RowSlab moved_columns(const DistributedMatrix& matrix, std::span<const double> places,
                      std::span<const double> ghost_places) {
  const CsrView<double> local = matrix.blocks.local.view(), ghost = matrix.blocks.ghost.view();
  RowSlab slab{.global_rows = matrix.global_rows(),
               .global_cols = matrix.global_rows(),
               .global_nnz = matrix.global_nnz,
               .first_row = matrix.first_row()};
  CsrMatrix<double>& to = slab.local;
  const std::int64_t rows = matrix.local_rows(), nonzeros = matrix.blocks.nnz();
  to.rows = rows;
  to.cols = slab.global_cols;
  to.row_ptr.resize(rows + 1);
  to.values.resize(nonzeros);
  if (slab.is_wide())
    slab.wide_columns.resize(nonzeros);
  else
    to.col_idx.resize(nonzeros);
  const bool has_ghosts = ghost.nnz() > 0;
  const auto begin = [&](std::int64_t i) {
    return local.row_ptr[i] + (has_ghosts ? ghost.row_ptr[i] : 0);
  };
  for (std::int64_t i = 0; i <= rows; ++i) to.row_ptr[i] = begin(i);
#pragma omp parallel
  {
    std::vector<std::pair<std::int64_t, double>> row;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < rows; ++i) {
      row.clear();
      const auto take = [&](const CsrView<double>& part, std::span<const double> at) {
        for (std::int32_t k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k)
          row.emplace_back(static_cast<std::int64_t>(at[part.col_idx[k]]), part.values[k]);
      };
      take(local, places);
      if (has_ghosts) take(ghost, ghost_places);
      std::ranges::stable_sort(row, {}, &std::pair<std::int64_t, double>::first);
      for (std::size_t k = 0; k < row.size(); ++k) {
        const std::size_t entry = to.row_ptr[i] + k;
        to.values[entry] = row[k].second;
        if (slab.is_wide())
          slab.wide_columns[entry] = row[k].first;
        else
          to.col_idx[entry] = static_cast<std::int32_t>(row[k].first);
      }
    }
  }
  return slab;
}

}  // namespace

std::shared_ptr<DistributedMatrix> scaled_matrix(const DistributedMatrix& matrix,
                                                 const SystemScaling& scaling) {
  GhostNumbers of_others(matrix);
  std::shared_ptr<DistributedMatrix> scaled;
  collectively(matrix.comm, [&] { scaled = copy_of(matrix); });
  const Array<double> columns(scaling.columns.begin(), scaling.columns.end());
  const std::span<const double> ghosts = of_others.of_owners(columns);
  collectively(matrix.comm, [&] {
    const std::int64_t in_local = scale(scaling.rows, columns, scaled->blocks.local);
    const std::int64_t in_ghosts = scale(scaling.rows, ghosts, scaled->blocks.ghost);
    if (const std::int64_t row = std::max(in_local, in_ghosts); row >= 0)
      fail(ExitCode::input,
           "solver.scaling makes an entry of row {} (from 0) exceed the largest double; use "
           "scaling: ruiz",
           matrix.callers_row(row));
  });
  if (!any_rank(matrix.comm, scaling.moved || !scaling.places.empty())) return scaled;
  Array<double> places(scaling.columns.size());
  for (std::size_t j = 0; j < places.size(); ++j)
    places[j] = scaling.moved
                    ? scaling.moved->new_rows()[j]
                    : static_cast<double>(matrix.first_row() + std::int64_t{scaling.places[j]});
  const std::span<const double> ghost_places = of_others.of_owners(places);
  RowSlab slab;
  collectively(matrix.comm, [&] { slab = moved_columns(*scaled, places, ghost_places); });
  scaled = distribute(matrix.comm, std::move(slab), matrix.row_starts);
  collectively(matrix.comm, [&] { scaled->callers_rows = matrix.callers_rows; });
  return scaled;
}

}  // namespace trireme
