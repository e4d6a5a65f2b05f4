// SPDX-License-Identifier: BSD-3-Clause
// Counts the columns of the rows of A P, without keeping them.
#include "multigrid/set_up/fill_guard.hpp"

#include <algorithm>
#include <atomic>

#include "base/array.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/thin_row.hpp"
#include "multigrid/set_up/thinning.hpp"

namespace trireme::multigrid {
namespace {

constexpr std::int64_t kRowsPerTurn = 256;

// The number of columns of row i of A P. `last_row` has for each of them the last row that had it.
std::int32_t columns_of_row(const CsrView<double>& a, const CsrView<double>& p, std::int64_t i,
                            std::int32_t run, Array<std::int32_t>& last_row) {
  std::int32_t columns = 0;
  for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
    const std::int32_t j = a.col_idx[k];
    for (std::int32_t l = p.row_ptr[j]; l < p.row_ptr[j + 1]; l += run) {
      std::int32_t& last = last_row[p.col_idx[l] / run];
      columns += last != i;
      last = static_cast<std::int32_t>(i);
    }
  }
  return columns * run;
}

void raise(std::int32_t& number, std::int32_t to) {
  const std::atomic_ref<std::int32_t> shared(number);
  std::int32_t now = shared.load(std::memory_order_relaxed);
  while (now < to && !shared.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
  }
}

}  // namespace

double runs_of_terms(const CsrView<double>& a, const CsrView<double>& p, std::int32_t run) {
  return HostPlace::sum(a.rows,
                        RunsOfRow{a.row_ptr.data(), a.col_idx.data(), p.row_ptr.data(), run});
}

std::int64_t least_coarse_nonzeros(const CsrView<double>& a, const CsrView<double>& p,
                                   std::int64_t own, std::int32_t run, double terms) {
  if (terms <= kRunsOfMeshes * static_cast<double>(a.nnz())) return 0;
  Array<std::int32_t> longest(p.cols, 0);
  const auto make_marks = [&] { return Array<std::int32_t>(p.cols / run, -1); };
  HostPlace::for_each_turn((a.rows + kRowsPerTurn - 1) / kRowsPerTurn, make_marks,
                           [&](std::int64_t turn, Array<std::int32_t>& marks) {
                             const std::int64_t end = std::min(a.rows, (turn + 1) * kRowsPerTurn);
                             for (std::int64_t i = turn * kRowsPerTurn; i < end; ++i) {
                               const std::int32_t columns = columns_of_row(a, p, i, run, marks);
                               for (std::int32_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k)
                                 raise(longest[p.col_idx[k]], columns);
                             }
                           });
  std::int64_t sum = 0;
  for (std::int64_t row = 0; row < own; ++row) sum += longest[row];
  return sum;
}

}  // namespace trireme::multigrid
