// SPDX-License-Identifier: BSD-3-Clause
// The pass on the host. Facts are integers and extremes, so that threads may add them in any order.
#include "sparse/row_facts.hpp"

#include <algorithm>

namespace trireme {
namespace {

// Calls take(value, key of the column, whether it is on the diagonal) for each entry of a row.
template <class Take>
void for_each_entry(const KeyedRows& rows, std::int64_t row, Take&& take) {
  const std::int64_t diagonal = rows.first_row + row;
  const CsrView<double>& local = rows.local;
  for (std::int32_t k = local.row_ptr[row]; k < local.row_ptr[row + 1]; ++k)
    take(local.values[k], rows.keys[local.col_idx[k]], local.col_idx[k] == diagonal);
  const CsrView<double>& ghost = rows.ghost;
  if (ghost.nnz() == 0) return;
  for (std::int32_t k = ghost.row_ptr[row]; k < ghost.row_ptr[row + 1]; ++k)
    take(ghost.values[k], rows.ghost_keys[ghost.col_idx[k]], false);
}

void take_row(RowFacts& facts, const KeyedRows& rows, std::int64_t row) {
  RowSums sums;
  RowHash hash;
  for_each_entry(rows, row, [&](double value, const RowKey& column, bool on_diagonal) {
    sums.take(value, on_diagonal);
    hash.take(value, column);
  });
  facts.take(sums);
  facts.take(hash, rows.keys[rows.first_row + row]);
}

// Of the rows row_of(0) to row_of(count - 1).
template <class RowOf>
RowFacts facts_of_rows(const KeyedRows& rows, std::int64_t count, const RowOf& row_of) {
  RowFacts facts;
#pragma omp parallel
  {
    RowFacts own;
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < count; ++i) take_row(own, rows, row_of(i));
#pragma omp critical(trireme_row_facts)
    facts += own;
  }
  return facts;
}

}  // namespace

Array<RowKey> row_keys(std::int64_t first, std::int64_t count) {
  Array<RowKey> keys(count);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) keys[i] = RowKey(first + i);
  return keys;
}

Array<RowKey> row_keys(std::span<const std::int64_t> rows) {
  Array<RowKey> keys;
  for (const std::int64_t row : rows) keys.emplace_back(row);
  return keys;
}

RowHash row_hash(const KeyedRows& rows, std::int64_t row) {
  RowHash hash;
  for_each_entry(rows, row,
                 [&](double value, const RowKey& column, bool) { hash.take(value, column); });
  return hash;
}

RowFacts row_facts(const KeyedRows& rows) {
  return facts_of_rows(rows, rows.local.rows, [](std::int64_t i) { return i; });
}

RowFacts row_facts(const KeyedRows& rows, std::span<const std::int32_t> named) {
  return facts_of_rows(rows, std::ssize(named), [&](std::int64_t i) { return named[i]; });
}

RowFacts row_facts(const CsrMatrix<double>& matrix) {
  const Array<RowKey> keys = row_keys(0, std::max(matrix.rows, matrix.cols));
  const CsrView<double> none;
  RowFacts facts;
  for (const RowBlock<double>& block : matrix.blocks())
    facts += row_facts({block.csr, none, block.first_row, keys, {}});
  return facts;
}

}  // namespace trireme
