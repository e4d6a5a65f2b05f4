// SPDX-License-Identifier: BSD-3-Clause
// The text that `problem inspect` prints, for known statistics.
#include "problem/inspect_table.hpp"

#include <gtest/gtest.h>

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
  s.diagonal =
      DiagonalStatistics{.zeros = 3, .first_zero_row = 17, .dominant_rows = 1200000, .negative = 4};
  return s;
}

TEST(InspectTable, HasEveryStatisticInItsLine) {
  EXPECT_EQ(matrix_table("a.h5 /A", statistics(), 12), R"(a.h5 /A
  shape               1 234 567 x 234 567
  nonzeros            16 100 000 (198.1 MB as CSR)
  duplicates          12 stored entries added to another
  row lengths         min 1, mean 13.04, max 99, standard deviation 2.50
    percentiles       5%: 2, 25%: 3, 50%: 4, 75%: 5, 95%: 6, 99%: 7
    empty rows        1 000
  bandwidth           123 below the diagonal, 4 567 above
  largest magnitude   8
  pattern             unsymmetric: 1 500 entries without a mirror
  values              unsymmetric: they differ by up to 2, 0.25 of the largest
  diagonal            3 zero or absent (first: row 17), 4 negative
    dominant rows     1 200 000 of 1 234 567
)");
}

TEST(InspectTable, LeavesOutAbsentStatistics) {
  MatrixStatistics s = statistics();
  s.symmetry = SymmetryStatistics{};
  s.diagonal->zeros = 0;
  s.diagonal->first_zero_row = std::nullopt;
  std::string table = matrix_table("a", s, 0);
  EXPECT_EQ(table.find("duplicates"), table.npos);
  EXPECT_NE(table.find("pattern             symmetric\n  values              symmetric\n"),
            table.npos)
      << table;
  EXPECT_NE(table.find("0 zero or absent, 4 negative"), table.npos) << table;
  s.symmetry = std::nullopt;
  s.diagonal = std::nullopt;
  table = matrix_table("a", s, 0);
  EXPECT_EQ(table.find("symmetric"), table.npos);
  EXPECT_EQ(table.find("diagonal  "), table.npos);
}

TEST(InspectTable, HasALineForEachRank) {
  EXPECT_EQ(ranks_table({{.first_row = 0, .rows = 1000, .nnz = 50000, .ghosts = 20},
                         {.first_row = 1000, .rows = 234567, .nnz = 1000000, .ghosts = 0}}),
            R"(  rank       first row            rows           nonzeros        ghosts      CSR, MB
     0               0           1 000             50 000            20         0.60
     1           1 000         234 567          1 000 000             0        12.94
)");
}

}  // namespace
}  // namespace trireme::problem_app
