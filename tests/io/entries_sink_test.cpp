// SPDX-License-Identifier: BSD-3-Clause
// What a sink is given while a matrix is read, on any number of ranks.
#include "io/entries_sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "io/read_matrix.hpp"

namespace trireme {
namespace {

using test::SharedFile;

// Keeps the entries, and counts how often each one came. Threads write different elements.
class Keeper final : public EntriesSink {
 public:
  void begin(std::int64_t entries) override {
    ++begun;
    columns_kept.assign(entries, -1);
    values_kept.assign(entries, -1);
    columns_seen.assign(entries, 0);
    values_seen.assign(entries, 0);
  }
  void columns(std::int64_t first, std::span<const std::int32_t> columns) override {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      columns_kept[first + k] = columns[k];
      ++columns_seen[first + k];
    }
  }
  void values(std::int64_t first, std::span<const double> values) override {
    for (std::size_t k = 0; k < values.size(); ++k) {
      values_kept[first + k] = values[k];
      ++values_seen[first + k];
    }
  }

  int begun = 0;
  std::vector<std::int32_t> columns_kept;
  std::vector<double> values_kept;
  std::vector<int> columns_seen, values_seen;
};

// A square matrix with three entries per row, as many pieces long. `swapped` is a row whose first
// two entries are in the wrong order; -1 stands for none.
void write_matrix(hdf5::File& file, const std::string& format, std::int64_t swapped = -1) {
  constexpr std::int64_t rows = 150'001;
  std::vector<std::int64_t> indptr{0}, indices;
  std::vector<double> data;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < 3; ++k) {
      indices.push_back((row * 7 + 3) % (rows - 200) + 90 * k);
      data.push_back(static_cast<double>(3 * row + k));
    }
    if (row == swapped) std::swap(indices[3 * row], indices[3 * row + 1]);
    indptr.push_back(std::ssize(indices));
  }
  hdf5::Group group = file.create_group("/A");
  group.write_attribute("format", format);
  group.write_attribute("shape", std::vector<std::int64_t>{rows, rows});
  test::put(group, "indptr", indptr);
  test::put(group, "indices", indices);
  test::put(group, "data", data);
}

Problem load(const SharedFile& file, EntriesSink& sink) {
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = file.path();
  spec.rhs = MadeRhs::ones;
  return load_problem(MPI_COMM_WORLD, spec, &sink);
}

TEST(EntriesSink, TakesEveryEntryOfTheRankOnce) {
  SharedFile file("entries.h5");
  file.write([](hdf5::File& f) { write_matrix(f, "csr"); });
  Keeper keeper;
  const Problem problem = load(file, keeper);
  const CsrMatrix<double>& local = problem.matrix.local;
  EXPECT_EQ(keeper.begun, 1);
  EXPECT_TRUE(problem.in_stored_order);
  EXPECT_TRUE(std::ranges::equal(keeper.columns_kept, local.col_idx));
  EXPECT_TRUE(std::ranges::equal(keeper.values_kept, local.values));
  EXPECT_EQ(std::ranges::count(keeper.columns_seen, 1), local.nnz());
  EXPECT_EQ(std::ranges::count(keeper.values_seen, 1), local.nnz());
}

// The entries of several blocks of rows lie one after the other, as those of one block do.
TEST(EntriesSink, TakesTheEntriesOfAllBlocksOfRows) {
  SharedFile file("blocks.h5");
  file.write([](hdf5::File& f) { write_matrix(f, "csr"); });
  const hdf5::File opened = hdf5::File::open(file.path());
  StoredMatrix stored = find_matrix(opened, "/A");
  stored.most_of_block = 40'000;
  Keeper keeper;
  const MatrixOnRanks matrix = read_csr(MPI_COMM_WORLD, stored, &keeper);
  const CsrMatrix<double>& local = matrix.slab.local;
  EXPECT_GE(local.cuts.size(), 3u);
  EXPECT_TRUE(matrix.in_stored_order);
  EXPECT_EQ(keeper.begun, 1);
  EXPECT_TRUE(std::ranges::equal(keeper.columns_kept, local.col_idx));
  EXPECT_TRUE(std::ranges::equal(keeper.values_kept, local.values));
  EXPECT_EQ(std::ranges::count(keeper.columns_seen, 1), local.nnz());
  EXPECT_EQ(std::ranges::count(keeper.values_seen, 1), local.nnz());
}

TEST(EntriesSink, IsToldByTheProblemWhereRowsWereSortedAfterwards) {
  SharedFile file("unsorted.h5");
  file.write([](hdf5::File& f) { write_matrix(f, "csr", 77'000); });
  Keeper keeper;
  const Problem problem = load(file, keeper);
  EXPECT_EQ(keeper.begun, 1);
  EXPECT_FALSE(problem.in_stored_order);
}

TEST(EntriesSink, TakesNothingOfAMatrixByColumns) {
  SharedFile file("columns.h5");
  file.write([](hdf5::File& f) { write_matrix(f, "csc"); });
  Keeper keeper;
  load(file, keeper);
  EXPECT_EQ(keeper.begun, 0);
}

TEST(EntriesSink, TakesNothingOfAGeneratedMatrix) {
  Keeper keeper;
  ProblemSpec spec;
  spec.source = GenerateSpec{.kind = "poisson2d", .n = 20};
  load_problem(MPI_COMM_WORLD, spec, &keeper);
  EXPECT_EQ(keeper.begun, 0);
}

}  // namespace
}  // namespace trireme
