// SPDX-License-Identifier: BSD-3-Clause
// The smoothed prolongator: its pattern and its values.
#include "multigrid/prolongator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "multigrid/filtered_row.hpp"
#include "multigrid/host_place.hpp"

namespace trireme::multigrid {
namespace {

constexpr double kLeastDiagonal = 0.1;  // of D, relative to the diagonal of A

struct FindDiagonal {
  FilteredRows a;
  double* diagonal;

  TRIREME_HD void operator()(std::int64_t i) const {
    double filtered = 0, plain = 0;
    a.for_entries(i, [&](std::int32_t j, double value) { filtered += j == i ? value : 0; });
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      plain += a.col_idx[k] == i ? a.values[k] : 0;
    const bool usable = filtered / plain > kLeastDiagonal;
    diagonal[i] = usable ? filtered : std::numeric_limits<double>::infinity();
  }
};

// The aggregates to which node I is connected, as members of the set.
struct GatherAggregates {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const std::uint8_t* strong;  // null: all entries are
  const std::int32_t* aggregate;
  std::int32_t size;
  bool smoothed;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t node, Set& set) const {
    if (aggregate[node] >= 0) set.insert(aggregate[node]);
    if (!smoothed) return;
    for (std::int32_t k = row_ptr[node * size]; k < row_ptr[(node + 1) * size]; ++k)
      if (!strong || strong[k]) {
        const std::int32_t other = aggregate[size == 1 ? col_idx[k] : col_idx[k] / size];
        if (other >= 0) set.insert(other);
      }
  }
};

struct FillRow {
  FilteredRows a;
  const double* diagonal;
  double weight;
  const std::int32_t* aggregate;  // by node
  const double* tentative;        // null: constants
  std::int32_t width;
  const std::int32_t* row_ptr;  // of P
  const std::int32_t* col_idx;
  double* values;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t i, Set& set) const {
    const std::int32_t begin = row_ptr[i], count = row_ptr[i + 1] - begin;
    if (count == 0) return;
    double* const row = values + begin;
    set.number(col_idx + begin, count);
    for (std::int32_t k = 0; k < count; ++k) row[k] = 0;
    if (weight != 0) {
      a.for_entries(i, [&](std::int32_t j, double value) { add(j, value, row, set); });
      const double factor = -weight / diagonal[i];
      for (std::int32_t k = 0; k < count; ++k) row[k] *= factor;
    }
    add(static_cast<std::int32_t>(i), 1, row, set);
    set.forget(col_idx + begin, count);
  }
  // row += factor * (row j of T)
  template <class Set>
  TRIREME_HD void add(std::int32_t j, double factor, double* row, const Set& set) const {
    const std::int32_t own = aggregate[a.size == 1 ? j : j / a.size];
    if (own < 0) return;
    if (!tentative) {
      row[set.place(own * width + j % a.size)] += factor;
      return;
    }
    double* const block = row + set.place(own * width);
    const double* const line = tentative + static_cast<std::int64_t>(j) * width;
    for (std::int32_t c = 0; c < width; ++c) block[c] += factor * line[c];
  }
};

}  // namespace

Array<double> filtered_diagonal(const FilteredMatrix& a) {
  Array<double> diagonal(a.a.local.rows);
  HostPlace::for_each(a.a.local.rows, FindDiagonal{FilteredRows(a), diagonal.data()});
  return diagonal;
}

CsrMatrix<double> prolongator_pattern(const FilteredMatrix& a, const Aggregates& aggregates,
                                      std::int32_t width, bool smoothed) {
  const std::int32_t size = a.block_size;
  const std::int64_t rows = a.a.local.rows, nodes = rows / size;
  const GatherAggregates gather{a.a.local.row_ptr.data(),
                                a.a.local.col_idx.data(),
                                a.strong.empty() ? nullptr : a.strong.data(),
                                aggregates.of_node.data(),
                                size,
                                smoothed};
  CsrMatrix<double> p;
  p.rows = rows;
  p.cols = static_cast<std::int64_t>(aggregates.count()) * width;
  Array<std::int32_t> per_node(nodes + 1);
  HostPlace::for_each_with_set(nodes, aggregates.count(), [&](std::int64_t node, ColumnSet& set) {
    gather(node, set);
    per_node[node] = set.size();
    set.clear();
  });
  p.row_ptr.resize(rows + 1);
  HostPlace::for_each(rows, [&](std::int64_t i) { p.row_ptr[i] = per_node[i / size] * width; });
  const std::int64_t nnz = HostPlace::sum_exclusively(p.row_ptr);
  if (nnz > INT32_MAX || p.cols > INT32_MAX)
    fail(ExitCode::resource,
         "a prolongator of multigrid would have {} nonzeros on one rank, more than 2^31-1; use "
         "more ranks",
         nnz);
  p.col_idx.resize(nnz);
  p.values.resize(nnz);
  HostPlace::for_each_with_set(nodes, aggregates.count(), [&](std::int64_t node, ColumnSet& set) {
    gather(node, set);
    const std::int32_t count = set.size();
    std::int32_t* const first = p.col_idx.data() + p.row_ptr[node * size];
    set.take_ascending(first);
    for (std::int32_t k = count * width - 1; k >= 0; --k)
      first[k] = first[k / width] * width + k % width;
    for (std::int32_t u = 1; u < size; ++u)
      std::copy(first, first + count * width, first + u * count * width);
  });
  return p;
}

void fill_prolongator(const FilteredMatrix& a, std::span<const double> diagonal, double weight,
                      std::span<const std::int32_t> aggregate_of_node, const Tentative& tentative,
                      CsrMatrix<double>& p) {
  HostPlace::for_each_with_set(
      p.rows, p.cols,
      FillRow{FilteredRows(a), diagonal.data(), weight, aggregate_of_node.data(),
              tentative.values.empty() ? nullptr : tentative.values.data(), tentative.width,
              p.row_ptr.data(), p.col_idx.data(), p.values.data()});
}

}  // namespace trireme::multigrid
