// SPDX-License-Identifier: BSD-3-Clause
// The text that `problem inspect` prints, for known statistics.
#include "problem/inspect_table.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace trireme::problem_app {
namespace {

MatrixStatistics statistics() {
  MatrixStatistics s;
  s.rows = 1234567;
  s.cols = 234567;
  s.nnz = 16100000;
  s.row_lengths = {.min = 1,
                   .max = 99,
                   .p05 = 2,
                   .p25 = 3,
                   .median = 4,
                   .p75 = 5,
                   .p95 = 6,
                   .p99 = 7,
                   .mean = 13.041,
                   .standard_deviation = 2.5,
                   .empty_rows = 1000};
  s.lower_bandwidth = 123;
  s.upper_bandwidth = 4567;
  s.largest_magnitude = 8;
  s.symmetry = SymmetryStatistics{.unmatched_entries = 1500, .largest_difference = 2};
  return s;
}

Looks looks() {
  return {.first = {.rows = 1234567,
                    .nnz = 16100000,
                    .symmetric_pattern = false,
                    .symmetric_values = false,
                    .skew = 0.31,
                    .positive_diagonal = 1234560,
                    .negative_diagonal = 4,
                    .zero_diagonal = 3,
                    .first_zero_diagonal = 17,
                    .empty_rows = 1000,
                    .dominant_rows = 1200000,
                    .constant_nullspace = true,
                    .row_sizes = {0.25, 8}},
          .closer = {.repeated_rows = 5,
                     .block_size = 3,
                     .rows_in_blocks = 1200001,
                     .structural_rank = 1234000,
                     .columns_as_rows = false,
                     .empty_columns = 1001,
                     .column_sizes = {1e-300, 8}}};
}

TEST(InspectTable, HasEveryStatisticInItsLine) {
  EXPECT_EQ(matrix_table("a.h5 /A", statistics(), looks(), 12), R"(a.h5 /A
  shape               1 234 567 x 234 567
  nonzeros            16 100 000 (198.1 MB as CSR)
  duplicates          12 stored entries added to another
  row lengths         min 1, mean 13.04, max 99, standard deviation 2.50
    percentiles       5%: 2, 25%: 3, 50%: 4, 75%: 5, 95%: 6, 99%: 7
    empty rows        1 000
  bandwidth           123 below the diagonal, 4 567 above
  largest magnitude   8
  in short            not symmetric, with zeros on the diagonal
  pattern             unsymmetric: 1 500 entries without a mirror
  values              unsymmetric: they differ by up to 2, 0.25 of the largest
    skew part         about 0.3 of the matrix, by Frobenius norms
  diagonal            1 234 560 positive, 4 negative, 3 zero or missing (first: row 17)
    dominant rows     1 200 000 of 1 234 567
  sizes of rows       0.25 to 8, a factor of about 2^5
  sizes of columns    1e-300 to 8, a factor of about 2^1000
  without a nonzero   1 000 rows, 1 001 columns
  sums of rows        all zero but for rounding, so that the matrix is singular
  repeated rows       5
  blocks of rows      3 rows of the same columns: 1 200 001 of 1 234 567 rows
  structural rank     1 234 000 of 1 234 567: singular whatever the values are
)");
}

TEST(InspectTable, LeavesOutWhatIsNotThere) {
  MatrixStatistics s = statistics();
  s.symmetry = SymmetryStatistics{};
  Looks seen{.first = {.rows = 9, .positive_diagonal = 9}, .closer = {}};
  std::string table = matrix_table("a", s, seen, 0);
  EXPECT_EQ(table.find("duplicates"), table.npos);
  EXPECT_NE(table.find("  in short            symmetric, with a positive diagonal\n"
                       "  pattern             symmetric\n  values              symmetric\n"
                       "  diagonal            9 positive, 0 negative, 0 zero or missing\n"),
            table.npos)
      << table;
  for (const char* absent : {"skew", "rounding", "sums of rows", "blocks", "structural"})
    EXPECT_EQ(table.find(absent), table.npos) << absent;
  seen.first.symmetric_values = false;
  seen.first.nearly_symmetric = true;
  EXPECT_NE(matrix_table("a", s, seen, 0).find("which is rounding at most"), table.npos);
  table = matrix_table("a", s, std::nullopt, 0);
  EXPECT_EQ(table.find("symmetric"), table.npos);
  EXPECT_EQ(table.find("diagonal  "), table.npos);
}

TEST(InspectTable, HasALineForEachRank) {
  EXPECT_EQ(ranks_table({{.first_row = 0, .rows = 1000, .nnz = 50000, .ghosts = 20},
                         {.first_row = 1000, .rows = 234567, .nnz = 1000000, .ghosts = 0}}),
            R"(  rank      first row           rows          nonzeros        ghosts     CSR, MB
     0              0          1 000            50 000            20        0.60
     1          1 000        234 567         1 000 000             0       12.94
)");
}

}  // namespace
}  // namespace trireme::problem_app
