// SPDX-License-Identifier: BSD-3-Clause
// Lays out the tables of problem inspect.
#include "inspect_table.hpp"

#include <fmt/format.h>

#include <iterator>

namespace trireme::problem_app {
namespace {

// 1234567 -> "1 234 567"
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ' ');
  return digits;
}

// The size of a matrix in CSR: 12 bytes per nonzero and 4 bytes per row.
double csr_megabytes(std::int64_t nnz, std::int64_t rows) {
  return 1e-6 * static_cast<double>(12 * nnz + 4 * rows);
}

void line(std::string& text, const std::string& label, const std::string& value) {
  fmt::format_to(std::back_inserter(text), "  {:<20}{}\n", label, value);
}

void add_symmetry(std::string& text, const SymmetryStatistics& symmetry, double largest,
                  const MatrixLook& look) {
  line(text, "pattern",
       symmetry.pattern() ? "symmetric"
                          : fmt::format("unsymmetric: {} entries without a mirror",
                                        grouped(symmetry.unmatched_entries)));
  line(text, "values",
       symmetry.values()
           ? "symmetric"
           : fmt::format("unsymmetric: they differ by up to {:.3g}, {:.2g} of the largest",
                         symmetry.largest_difference,
                         largest > 0 ? symmetry.largest_difference / largest : 0));
  if (look.nearly_symmetric)
    line(text, "", "which is rounding at most");
  else if (!look.symmetric())
    line(text, "  skew part",
         fmt::format("about {:.1g} of the matrix, by Frobenius norms", look.skew));
}

std::string sizes(const SizeSpan& of) {
  return fmt::format("{:.3g} to {:.3g}, a factor of about 2^{}", of.least, of.greatest,
                     of.powers_of_two());
}

void add_rows_and_columns(std::string& text, const MatrixLook& look, const CloserLook& closer) {
  line(text, "sizes of rows", sizes(look.row_sizes));
  line(text, "sizes of columns", sizes(closer.column_sizes));
  line(text, "without a nonzero",
       fmt::format("{} rows, {} columns", grouped(look.empty_rows), grouped(closer.empty_columns)));
  if (look.constant_nullspace)
    line(text, "sums of rows", "all zero but for rounding, so that the matrix is singular");
}

void add_diagonal(std::string& text, const MatrixLook& look) {
  line(text, "diagonal",
       fmt::format(
           "{} positive, {} negative, {} zero or missing{}", grouped(look.positive_diagonal),
           grouped(look.negative_diagonal), grouped(look.zero_diagonal),
           look.first_zero_diagonal ? fmt::format(" (first: row {})", *look.first_zero_diagonal)
                                    : ""));
  line(text, "  dominant rows",
       fmt::format("{} of {}", grouped(look.dominant_rows), grouped(look.rows)));
}

void add_closer_look(std::string& text, const CloserLook& look, std::int64_t rows) {
  line(text, "repeated rows", grouped(look.repeated_rows));
  if (look.block_size > 1)
    line(text, "blocks of rows",
         fmt::format("{} rows of the same columns: {} of {} rows", look.block_size,
                     grouped(look.rows_in_blocks), grouped(rows)));
  if (look.structural_rank)
    line(text, "structural rank",
         fmt::format("{} of {}{}", grouped(*look.structural_rank), grouped(rows),
                     *look.structural_rank < rows ? ": singular whatever the values are" : ""));
}

}  // namespace

std::string matrix_table(const std::string& name, const MatrixStatistics& statistics,
                         const std::optional<Looks>& looks, std::int64_t duplicates_summed,
                         const std::string& near_nullspace, const std::vector<TableLine>& vectors) {
  const RowLengthStatistics& lengths = statistics.row_lengths;
  std::string text = name + "\n";
  line(text, "shape", grouped(statistics.rows) + " x " + grouped(statistics.cols));
  line(text, "nonzeros",
       fmt::format("{} ({:.1f} MB as CSR)", grouped(statistics.nnz),
                   csr_megabytes(statistics.nnz, statistics.rows)));
  if (duplicates_summed > 0)
    line(text, "duplicates", grouped(duplicates_summed) + " stored entries added to another");
  line(text, "row lengths",
       fmt::format("min {}, mean {:.2f}, max {}, standard deviation {:.2f}", lengths.min,
                   lengths.mean, lengths.max, lengths.standard_deviation));
  line(text, "  percentiles",
       fmt::format("5%: {}, 25%: {}, 50%: {}, 75%: {}, 95%: {}, 99%: {}", lengths.p05, lengths.p25,
                   lengths.median, lengths.p75, lengths.p95, lengths.p99));
  line(text, "  empty rows", grouped(lengths.empty_rows));
  line(text, "bandwidth",
       fmt::format("{} below the diagonal, {} above", grouped(statistics.lower_bandwidth),
                   grouped(statistics.upper_bandwidth)));
  line(text, "largest magnitude", fmt::format("{:.6g}", statistics.largest_magnitude));
  if (looks) {
    const MatrixLook& look = looks->first;
    line(text, "in short", in_short(look));
    add_symmetry(text, *statistics.symmetry, statistics.largest_magnitude, look);
    add_diagonal(text, look);
    add_rows_and_columns(text, look, looks->closer);
    add_closer_look(text, looks->closer, statistics.rows);
  }
  for (const TableLine& vector : vectors) line(text, vector.label, vector.value);
  if (!near_nullspace.empty()) line(text, "near-nullspace", near_nullspace);
  return text;
}

std::string ranks_table(const std::vector<RankShare>& shares) {
  std::string text = fmt::format("{:>6} {:>14} {:>14} {:>17} {:>13} {:>11}\n", "rank", "first row",
                                 "rows", "nonzeros", "ghosts", "CSR, MB");
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const RankShare& share = shares[rank];
    fmt::format_to(std::back_inserter(text), "{:>6} {:>14} {:>14} {:>17} {:>13} {:>11.2f}\n", rank,
                   grouped(share.first_row), grouped(share.rows), grouped(share.nnz),
                   grouped(share.ghosts), csr_megabytes(share.nnz, share.rows));
  }
  return text;
}

}  // namespace trireme::problem_app
