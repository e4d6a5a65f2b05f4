// SPDX-License-Identifier: BSD-3-Clause
// Right-hand sides in the shapes that other programs store.
#include "io/vectors.hpp"

#include <gtest/gtest.h>

#include "io/problem_file.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using test::SharedFile;

// The vectors of a dataset of these extents, which holds 1, 2, 3, ... in the order of the file.
std::vector<Array<double>> stored_as(std::vector<std::int64_t> extents, bool matlab,
                                     const RowRange& rows) {
  SharedFile shared("vectors.h5");
  shared.write([&](hdf5::File& file) {
    std::vector<double> values(extents[0] * (extents.size() == 2 ? extents[1] : 1));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
    hdf5::Dataset dataset = file.create_dataset<double>("b", extents);
    dataset.write(0, extents[0], values.data());
    if (matlab) dataset.write_attribute("MATLAB_class", "double");
  });
  std::vector<Array<double>> vectors;
  collectively(MPI_COMM_WORLD,
               [&] { vectors = read_vectors(hdf5::File::open(shared.path()), "/b", rows); });
  return vectors;
}

// This rank's part of `global` rows.
RowRange share_of(std::int64_t global) {
  const std::int64_t first = global * rank_of(MPI_COMM_WORLD) / size_of(MPI_COMM_WORLD);
  return {first, global * (rank_of(MPI_COMM_WORLD) + 1) / size_of(MPI_COMM_WORLD) - first, global};
}

void expect_vectors(const std::vector<Array<double>>& vectors,
                    const std::vector<std::vector<double>>& global, const RowRange& rows) {
  ASSERT_EQ(vectors.size(), global.size());
  for (std::size_t j = 0; j < global.size(); ++j) {
    ASSERT_EQ(std::ssize(vectors[j]), rows.count);
    for (std::int64_t i = 0; i < rows.count; ++i)
      EXPECT_EQ(vectors[j][i], global[j][rows.first + i]) << "vector " << j << ", row " << i;
  }
}

// B = [1 4 7; 2 5 8; 3 6 9]. A file of MATLAB holds its columns one after another.
TEST(Vectors, OfMatlabAreItsColumnsAlsoWhereThereAreAsManyAsRows) {
  const RowRange rows = share_of(3);
  expect_vectors(stored_as({3, 3}, true, rows), {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, rows);
  expect_vectors(stored_as({2, 3}, true, rows), {{1, 2, 3}, {4, 5, 6}}, rows);
}

TEST(Vectors, OfOthersAreColumnsAlsoWhereThereAreAsManyAsRows) {
  const RowRange rows = share_of(3);
  expect_vectors(stored_as({3, 3}, false, rows), {{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}, rows);
  expect_vectors(stored_as({3, 2}, false, rows), {{1, 3, 5}, {2, 4, 6}}, rows);
}

TEST(Vectors, OfMatlabMayBeOneColumnOrOneRow) {
  const RowRange rows = share_of(4);
  expect_vectors(stored_as({1, 4}, true, rows), {{1, 2, 3, 4}}, rows);
  expect_vectors(stored_as({4, 1}, true, rows), {{1, 2, 3, 4}}, rows);
  const RowRange one = share_of(1);
  expect_vectors(stored_as({3, 1}, true, one), {{1}, {2}, {3}}, one);
}

TEST(Vectors, OfMatlabThatLieInRowsAreRefused) {
  try {
    stored_as({4, 2}, true, share_of(4));
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_TRUE(
        std::string(error.what())
            .ends_with(": /b is 2 x 4 in MATLAB; the matrix has 4 rows, so 4 x k is needed"))
        << error.what();
  }
}

}  // namespace
}  // namespace trireme
