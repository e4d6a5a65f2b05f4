// SPDX-License-Identifier: BSD-3-Clause
// Computes the statistics in a few passes over the matrix, with all OpenMP threads. The passes take
// O(nnz) time; the search of the transposed entries takes O(nnz log(row length)).
#include "sparse/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "sparse/partition.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {
namespace {

// Returns the same matrix with strictly ascending columns in every row. Entries of the same row and
// column are summed.
CsrMatrix<double> with_sorted_rows(const CsrMatrix<double>& a) {
  CsrMatrix<double> sorted{a.rows, a.cols, {}, {}, {}};
  Array<std::int32_t> lengths;
  std::vector<std::pair<std::int32_t, double>> row_entries;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    row_entries.clear();
    for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k)
      row_entries.emplace_back(a.col_idx[k], a.values[k]);
    std::sort(row_entries.begin(), row_entries.end(),
              [](const auto& left, const auto& right) { return left.first < right.first; });
    const std::size_t begin = sorted.col_idx.size();
    for (const auto& [column, value] : row_entries) {
      if (sorted.col_idx.size() > begin && sorted.col_idx.back() == column) {
        sorted.values.back() += value;
      } else {
        sorted.col_idx.push_back(column);
        sorted.values.push_back(value);
      }
    }
    lengths.push_back(static_cast<std::int32_t>(sorted.col_idx.size() - begin));
  }
  set_row_lengths(lengths, kMostNonzerosOfBlock, "the matrix", sorted);
  return sorted;
}

// The columns of each row must ascend.
SymmetryStatistics symmetry_statistics(const CsrMatrix<double>& a) {
  std::int64_t unmatched = 0;
  double difference = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : unmatched) reduction(max : difference)
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k) {
      const std::int32_t column = a.col_idx[k];
      const auto begin = a.col_idx.begin() + a.row_begin(column);
      const auto end = a.col_idx.begin() + a.row_begin(column + 1);
      const auto found = std::lower_bound(begin, end, static_cast<std::int32_t>(row));
      const bool stored = found != end && *found == row;
      unmatched += !stored;
      const double transposed = stored ? a.values[found - a.col_idx.begin()] : 0;
      difference = std::max(difference, std::fabs(a.values[k] - transposed));
    }
  return {unmatched, difference};
}

bool has_sorted_columns(const CsrMatrix<double>& a) {
  bool sorted = true;
#pragma omp parallel for schedule(static) reduction(&& : sorted)
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t k = a.row_begin(row) + 1; k < a.row_begin(row + 1); ++k)
      sorted = sorted && a.col_idx[k - 1] < a.col_idx[k];
  return sorted;
}

void measure_entries(const CsrMatrix<double>& a, MatrixStatistics& result) {
  std::int64_t lower = 0, upper = 0;
  double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : lower, upper, largest)
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k) {
      lower = std::max<std::int64_t>(lower, row - a.col_idx[k]);
      upper = std::max<std::int64_t>(upper, a.col_idx[k] - row);
      largest = std::max(largest, std::fabs(a.values[k]));
    }
  result.lower_bandwidth = lower;
  result.upper_bandwidth = upper;
  result.largest_magnitude = largest;
}

}  // namespace

namespace {

RowLengthStatistics statistics_of_lengths(Array<std::int32_t>&& lengths, std::int64_t nnz) {
  RowLengthStatistics result;
  if (lengths.empty()) return result;
  const auto count = static_cast<double>(lengths.size());
  result.mean = static_cast<double>(nnz) / count;
  double squares = 0;
  for (const std::int32_t length : lengths) squares += std::pow(length - result.mean, 2);
  result.standard_deviation = std::sqrt(squares / count);
  result.empty_rows = std::count(lengths.begin(), lengths.end(), 0);

  const auto percentile = [&](double percent) -> std::int64_t {
    const auto rank = static_cast<std::int64_t>(std::ceil(percent / 100 * count)) - 1;
    const auto place = lengths.begin() + std::max<std::int64_t>(rank, 0);
    std::nth_element(lengths.begin(), place, lengths.end());
    return *place;
  };
  result.p05 = percentile(5);
  result.p25 = percentile(25);
  result.median = percentile(50);
  result.p75 = percentile(75);
  result.p95 = percentile(95);
  result.p99 = percentile(99);
  result.min = *std::min_element(lengths.begin(), lengths.end());
  result.max = *std::max_element(lengths.begin(), lengths.end());
  return result;
}

}  // namespace

RowLengthStatistics row_length_statistics(std::span<const std::int32_t> row_ptr) {
  if (row_ptr.size() < 2) return {};
  Array<std::int32_t> lengths(row_ptr.size() - 1);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = row_ptr[row + 1] - row_ptr[row];
  return statistics_of_lengths(std::move(lengths), row_ptr.back() - row_ptr.front());
}

MatrixStatistics matrix_statistics(const CsrMatrix<double>& matrix) {
  MatrixStatistics result;
  result.rows = matrix.rows;
  result.cols = matrix.cols;
  result.nnz = matrix.nnz();
  Array<std::int32_t> lengths(matrix.rows);
  for (const RowBlock<double>& block : matrix.blocks())
    for (std::int64_t row = 0; row < block.csr.rows; ++row)
      lengths[block.first_row + row] = block.csr.row_ptr[row + 1] - block.csr.row_ptr[row];
  result.row_lengths = statistics_of_lengths(std::move(lengths), matrix.nnz());
  result.sorted_columns = has_sorted_columns(matrix);
  measure_entries(matrix, result);
  if (matrix.rows == matrix.cols)
    result.symmetry = result.sorted_columns ? symmetry_statistics(matrix)
                                            : symmetry_statistics(with_sorted_rows(matrix));
  return result;
}

std::vector<RankShare> rank_shares(const CsrMatrix<double>& matrix, int ranks) {
  const std::vector<std::int64_t> starts = split_by_nonzeros(
      matrix.rows, [&](std::int64_t row) { return matrix.row_begin(row); }, ranks);
  std::vector<RankShare> shares(ranks);
  std::vector<std::int32_t> last_rank_seen(matrix.cols, -1);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t begin = starts[rank], end = starts[rank + 1];
    const bool square = matrix.rows == matrix.cols;
    const std::int64_t first_column = square ? begin : matrix.cols * rank / ranks;
    const std::int64_t last_column = square ? end : matrix.cols * (rank + 1) / ranks;
    const std::int64_t offset = matrix.row_begin(begin);
    const std::int64_t nnz = matrix.row_begin(end) - offset;
    shares[rank] = {begin, end - begin, nnz, 0};
    for (const std::int32_t column : std::span(matrix.col_idx).subspan(offset, nnz)) {
      if (last_rank_seen[column] == rank) continue;
      last_rank_seen[column] = rank;
      shares[rank].ghosts += column < first_column || column >= last_column;
    }
  }
  return shares;
}

}  // namespace trireme
