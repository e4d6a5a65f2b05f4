// SPDX-License-Identifier: BSD-3-Clause
// Files of more rows and of more nonzeros than 32 bits number. Most of each dataset is a hole,
// which takes no space where the file system knows sparse files.
#include <gtest/gtest.h>

#include <numeric>

#include "io/output_file.hpp"
#include "io/problem_file.hpp"
#include "io/read_checks.hpp"
#include "io/read_matrix.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kRows = 3'000'000'000;

// The last rows of a tridiagonal matrix.
RowSlab last_rows(std::int64_t count) {
  RowSlab slab{.global_rows = kRows, .global_cols = kRows, .first_row = kRows - count};
  slab.local.rows = count;
  slab.local.cols = kRows;
  for (std::int64_t row = slab.first_row; row < kRows; ++row) {
    for (std::int64_t column = row - 1; column <= std::min(row + 1, kRows - 1); ++column) {
      slab.wide_columns.push_back(column);
      slab.local.values.push_back(column == row ? 2.0 : -1.0 - static_cast<double>(row - kRows));
    }
    slab.local.row_ptr.push_back(static_cast<std::int32_t>(slab.wide_columns.size()));
  }
  slab.global_nnz = slab.local.nnz();
  return slab;
}

TEST(WideRows, AreReadBackAsTheyWereWritten) {
  const RowSlab slab = last_rows(1000);
  const test::SharedFile shared("wide.h5");
  OutputFile out(MPI_COMM_WORLD, shared.path());
  out.write_matrix("/A", slab);
  out.commit();

  const hdf5::File file = hdf5::File::open(shared.path());
  const StoredMatrix stored = find_matrix(file, "/A");
  EXPECT_EQ(stored.rows, kRows);
  RowSlab back{.global_rows = kRows, .global_cols = kRows, .first_row = slab.first_row};
  back.local.rows = slab.local.rows;
  read_rows(stored, back, nullptr);
  EXPECT_EQ(back.local.row_ptr, slab.local.row_ptr);
  EXPECT_EQ(back.wide_columns, slab.wide_columns);
  EXPECT_EQ(back.local.values, slab.local.values);
}

TEST(WideRows, AColumnOutOfRangeIsNamedByAll64Bits) {
  RowSlab slab = last_rows(10);
  slab.wide_columns.back() = kRows;
  const test::SharedFile shared("wide.h5");
  OutputFile out(MPI_COMM_WORLD, shared.path());
  out.write_matrix("/A", slab);
  out.commit();
  const hdf5::File file = hdf5::File::open(shared.path());
  RowSlab back{.global_rows = kRows, .global_cols = kRows, .first_row = slab.first_row};
  back.local.rows = slab.local.rows;
  try {
    read_rows(find_matrix(file, "/A"), back, nullptr);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("= 3000000000 is out of range"), std::string::npos)
        << error.what();
  }
}

// Row 0 has 2^31 + 8 nonzeros, which nobody wrote; row 1 has those that follow.
TEST(WideRows, EntriesBeyondTwoToTheThirtyOneAreRead) {
  constexpr std::int64_t kBefore = (std::int64_t{1} << 31) + 8, kCount = 500;
  test::SharedFile shared("long.h5");
  std::vector<std::int32_t> columns(kCount);
  std::iota(columns.begin(), columns.end(), 7);
  std::vector<double> values(columns.begin(), columns.end());
  shared.write([&](hdf5::File& file) {
    hdf5::Group group = file.create_group("/A");
    group.write_attribute("format", "csr");
    group.write_attribute("shape", std::vector<std::int64_t>{2, kBefore});
    test::put(group, "indptr", std::vector<std::int64_t>{0, kBefore, kBefore + kCount});
    group.create_dataset<std::int32_t>("indices", {kBefore + kCount})
        .write(kBefore, kCount, columns.data());
    group.create_dataset<double>("data", {kBefore + kCount}).write(kBefore, kCount, values.data());
  });
  const hdf5::File file = hdf5::File::open(shared.path());
  const StoredMatrix stored = find_matrix(file, "/A");
  RowSlab slab{.global_rows = 2, .global_cols = kBefore, .first_row = 1};
  slab.local.rows = 1;
  read_rows(stored, slab, nullptr);
  EXPECT_EQ(slab.wide_columns, Array<std::int64_t>(columns.begin(), columns.end()));
  EXPECT_EQ(slab.local.values, Array<double>(values.begin(), values.end()));

  // Both rows in one process: the first one does not fit into a block.
  RowSlab both{.global_rows = 2, .global_cols = kBefore};
  both.local.rows = 2;
  EXPECT_THROW(read_row_ptr(stored, 0, both.local), Error);
}

TEST(WideRows, BlocksOfRowsAreCutWhereTheFileSays) {
  test::SharedFile shared("blocks.h5");
  shared.write([](hdf5::File& file) { test::arrow_matrix(60).write(file); });
  const hdf5::File file = hdf5::File::open(shared.path());
  StoredMatrix stored = find_matrix(file, "/A");
  CsrMatrix<double> whole, blocks;
  whole.rows = blocks.rows = 60;
  read_row_ptr(stored, 0, whole);
  stored.most_of_block = 60;
  const EntryRange entries = read_row_ptr(stored, 0, blocks);
  EXPECT_EQ(entries.count, whole.row_ptr.back());
  EXPECT_GE(blocks.cuts.size(), 2u);
  EXPECT_EQ(blocks.cuts.front(), 1);
  for (std::int64_t row = 0; row <= 60; ++row)
    EXPECT_EQ(blocks.row_begin(row), whole.row_begin(row));
}

}  // namespace
}  // namespace trireme
