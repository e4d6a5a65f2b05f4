// SPDX-License-Identifier: BSD-3-Clause
// A binary search for the end of each block.
#include "sparse/row_blocks.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace trireme {

void fail_several_blocks(std::int64_t nonzeros) {
  fail(ExitCode::resource,
       "{} nonzeros on one process, of which orders of rows, graph partitioning, multigrid, block "
       "Jacobi and PETSc's own matrices take at most 2^31-2^16; use more processes, or leave these "
       "out",
       nonzeros);
}

void require_local_rows(const std::string& name, std::int64_t rows) {
  if (rows > std::numeric_limits<std::int32_t>::max())
    fail(ExitCode::resource, "{}: a rank would have {} rows, at most 2^31-1; use more ranks", name,
         rows);
}

std::vector<std::int64_t> cut_rows_into_blocks(
    std::int64_t rows, std::int64_t most, const std::string& name,
    const std::function<std::int64_t(std::int64_t row)>& entries_before) {
  std::vector<std::int64_t> cuts;
  const std::int64_t all = entries_before(rows);
  std::int64_t first = 0, before = entries_before(0);
  while (all - before > most) {
    std::int64_t low = first, high = rows;  // the largest row with at most `most` entries before it
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      if (entries_before(middle) - before <= most)
        low = middle;
      else
        high = middle;
    }
    if (low == first)
      fail(ExitCode::resource, "{}: row {} (from 0, of this process) has {} nonzeros, at most {}",
           name, first, entries_before(first + 1) - before, most);
    cuts.push_back(low);
    first = low;
    before = entries_before(low);
  }
  return cuts;
}

namespace {

// row_ptr for the cuts, from the number of entries before each row.
template <class EntriesBefore>
Array<std::int32_t> offsets_for(std::int64_t rows, const std::vector<std::int64_t>& cuts,
                                const EntriesBefore& entries_before) {
  Array<std::int32_t> offsets(rows + 1 + std::ssize(cuts));
  for (std::size_t block = 0; block <= cuts.size(); ++block) {
    const std::int64_t first = block == 0 ? 0 : cuts[block - 1];
    const std::int64_t last = block == cuts.size() ? rows : cuts[block];
    const std::int64_t before = entries_before(first);
#pragma omp parallel for schedule(static)
    for (std::int64_t row = first; row <= last; ++row)
      offsets[row + block] = static_cast<std::int32_t>(entries_before(row) - before);
  }
  return offsets;
}

// Those of the rows before each row, as long as `matrix` keeps its offsets and cuts.
template <class Value>
Array<std::int64_t> all_entries_before(const CsrMatrix<Value>& matrix) {
  Array<std::int64_t> before(matrix.rows + 1);
  for (const RowBlock<Value>& block : matrix.blocks())
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row <= block.csr.rows; ++row)
      before[block.first_row + row] = block.first_entry + block.csr.row_ptr[row];
  return before;
}

// The same for rows of these lengths.
Array<std::int64_t> all_entries_before(std::span<const std::int32_t> lengths) {
  const std::int64_t rows = std::ssize(lengths);
  Array<std::int64_t> before(rows + 1);
  std::vector<std::int64_t> of_threads(omp_get_max_threads() + 1);
#pragma omp parallel
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const std::int64_t first = rows * thread / threads, last = rows * (thread + 1) / threads;
    std::int64_t sum = 0;
    for (std::int64_t row = first; row < last; ++row) sum += lengths[row];
    of_threads[thread + 1] = sum;
#pragma omp barrier
#pragma omp single
    std::partial_sum(of_threads.begin(), of_threads.end(), of_threads.begin());
    sum = of_threads[thread];
    for (std::int64_t row = first; row < last; ++row) {
      before[row] = sum;
      sum += lengths[row];
    }
  }
  before[rows] = of_threads.back();
  return before;
}

}  // namespace

std::int64_t set_row_lengths(std::span<const std::int32_t> lengths, std::int64_t most,
                             const std::string& name, CsrMatrix<double>& matrix) {
  const Array<std::int64_t> before = all_entries_before(lengths);
  const auto entries_before = [&](std::int64_t row) { return before[row]; };
  matrix.rows = std::ssize(lengths);
  matrix.cuts = cut_rows_into_blocks(matrix.rows, most, name, entries_before);
  matrix.row_ptr = offsets_for(matrix.rows, matrix.cuts, entries_before);
  return before.back();
}

template <class Value>
void cut_again(CsrMatrix<Value>& matrix, std::int64_t most) {
  if (matrix.cuts.empty() && matrix.nnz() <= most) return;
  const Array<std::int64_t> before = all_entries_before(matrix);
  const auto entries_before = [&](std::int64_t row) { return before[row]; };
  matrix.cuts = cut_rows_into_blocks(matrix.rows, most, "the matrix", entries_before);
  matrix.row_ptr = offsets_for(matrix.rows, matrix.cuts, entries_before);
}

template void cut_again(CsrMatrix<double>&, std::int64_t);
template void cut_again(CsrMatrix<float>&, std::int64_t);
template void cut_again(CsrMatrix<std::int32_t>&, std::int64_t);

}  // namespace trireme
