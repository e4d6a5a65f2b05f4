// SPDX-License-Identifier: BSD-3-Clause
// load_problem on any number of ranks: the problems that it reads, and those that it refuses.
#include "io/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "io/problem_file.hpp"
#include "parallel/collective.hpp"
#include "sparse/partition.hpp"
#include "sparse/usual_magnitude.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::SharedFile;
using test::SmallMatrix;

template <class T>
std::vector<T> gather(const Array<T>& mine) {
  int bytes = static_cast<int>(mine.size() * sizeof(T));
  std::vector<int> counts(size_of(MPI_COMM_WORLD)), starts(counts.size() + 1, 0);
  MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t r = 0; r < counts.size(); ++r) starts[r + 1] = starts[r] + counts[r];
  std::vector<T> all(starts.back() / sizeof(T));
  MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), starts.data(), MPI_BYTE,
                 MPI_COMM_WORLD);
  return all;
}

// The whole matrix on every rank.
CsrMatrix<double> gather(const RowSlab& slab) {
  CsrMatrix<double> whole;
  whole.rows = slab.global_rows;
  whole.cols = slab.global_cols;
  Array<std::int32_t> lengths(slab.local.rows);
  for (std::int64_t i = 0; i < slab.local.rows; ++i)
    lengths[i] = slab.local.row_ptr[i + 1] - slab.local.row_ptr[i];
  for (const std::int32_t length : gather(lengths))
    whole.row_ptr.push_back(whole.row_ptr.back() + length);
  const auto columns = gather(slab.local.col_idx);
  const auto values = gather(slab.local.values);
  whole.col_idx.assign(columns.begin(), columns.end());
  whole.values.assign(values.begin(), values.end());
  return whole;
}

void expect_same(const CsrMatrix<double>& got, const CsrMatrix<double>& want) {
  EXPECT_EQ(got.rows, want.rows);
  EXPECT_EQ(got.cols, want.cols);
  EXPECT_EQ(got.row_ptr, want.row_ptr);
  EXPECT_EQ(got.col_idx, want.col_idx);
  EXPECT_EQ(got.values, want.values);
}

ProblemSpec spec_of(const SharedFile& file) {
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = file.path();
  return spec;
}

ProblemSpec generated(const std::string& kind, std::int64_t n) {
  ProblemSpec spec;
  GenerateSpec& generate = spec.source.emplace<GenerateSpec>();
  generate.kind = kind;
  generate.n = n;
  generate.seed = 7;
  return spec;
}

std::string refusal(const ProblemSpec& spec, ExitCode code = ExitCode::input) {
  try {
    load_problem(MPI_COMM_WORLD, spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

std::string refusal(const SmallMatrix& matrix) {
  SharedFile file("bad.h5");
  file.write([&](hdf5::File& f) { matrix.write(f); });
  return refusal(spec_of(file));
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(LoadMatrix, ReadsEveryContractShapeAndCutsItAsInspectSays) {
  for (const auto& shape : test::contract_shapes<double>()) {
    if (shape.name.starts_with("Unsorted") || shape.name == "AllMixed") continue;
    SCOPED_TRACE(shape.name);
    SharedFile file("shape.h5");
    file.write([&](hdf5::File& f) {
      SmallMatrix stored;
      stored.shape = {shape.matrix.rows, shape.matrix.cols};
      stored.indptr.assign(shape.matrix.row_ptr.begin(), shape.matrix.row_ptr.end());
      stored.indices.assign(shape.matrix.col_idx.begin(), shape.matrix.col_idx.end());
      stored.data.assign(shape.matrix.values.begin(), shape.matrix.values.end());
      stored.write(f);
    });
    const MatrixOnRanks read = load_matrix(MPI_COMM_WORLD, spec_of(file));
    expect_same(gather(read.slab), shape.matrix);
    EXPECT_EQ(read.slab.global_nnz, shape.matrix.nnz());
    EXPECT_EQ(read.row_starts,
              split_by_nonzeros(std::span<const std::int32_t>(shape.matrix.row_ptr),
                                size_of(MPI_COMM_WORLD)));
  }
}

TEST(LoadMatrix, TransposesMatlabsColumns) {
  for (const auto& shape : test::contract_shapes<double>()) {
    if (shape.name.starts_with("Unsorted") || shape.name == "AllMixed") continue;
    SCOPED_TRACE(shape.name);
    const CsrMatrix<double>& a = shape.matrix;
    std::vector<std::vector<std::pair<std::int64_t, double>>> columns(a.cols);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        columns[a.col_idx[k]].emplace_back(i, a.values[k]);
    SharedFile file("matlab.h5");
    file.write([&](hdf5::File& f) {
      std::vector<std::int64_t> jc{0}, ir;
      std::vector<double> data;
      for (const auto& column : columns) {
        for (const auto& [row, value] : column) {
          ir.push_back(row);
          data.push_back(value);
        }
        jc.push_back(std::ssize(ir));
      }
      hdf5::Group group = f.create_group("/A");
      group.write_attribute("MATLAB_class", "double");
      group.write_attribute("MATLAB_sparse", a.rows);
      test::put(group, "jc", jc);
      if (ir.empty()) return;  // as MATLAB does
      test::put(group, "ir", ir);
      test::put(group, "data", data);
    });
    const MatrixOnRanks read = load_matrix(MPI_COMM_WORLD, spec_of(file));
    expect_same(gather(read.slab), a);
    EXPECT_EQ(read.row_starts,
              split_by_nonzeros(std::span<const std::int32_t>(a.row_ptr), size_of(MPI_COMM_WORLD)));
  }
}

TEST(LoadMatrix, SortsRowsAndSumsDuplicates) {
  SmallMatrix stored;
  stored.indices = {1, 0, 3, 3, 2, 0, 2};
  SharedFile file("duplicates.h5");
  file.write([&](hdf5::File& f) { stored.write(f); });
  const MatrixOnRanks read = load_matrix(MPI_COMM_WORLD, spec_of(file));
  EXPECT_EQ(read.duplicates_summed, 2);
  EXPECT_EQ(read.slab.global_nnz, 5);
  CsrMatrix<double> want;
  want.rows = want.cols = 4;
  want.row_ptr = {0, 2, 3, 3, 5};
  want.col_idx = {0, 1, 3, 0, 2};
  want.values = {-1, 4, 7, 3, 7};
  expect_same(gather(read.slab), want);
}

// No rank may say that its values are usual while one of them is not.
TEST(LoadMatrix, SaysWhetherAValueIsUnusuallyLarge) {
  for (const double value : {-1e30, 1e200, -1e31}) {
    SmallMatrix stored;
    stored.data[4] = value;
    SharedFile file("large.h5");
    file.write([&](hdf5::File& f) { stored.write(f); });
    const MatrixOnRanks read = load_matrix(MPI_COMM_WORLD, spec_of(file));
    bool mine = false;
    for (const double v : read.slab.local.values) mine = mine || std::abs(v) > kUsualMagnitude;
    EXPECT_EQ(read.none_above_usual, !mine) << value;
  }
}

TEST(LoadMatrix, SumsDuplicatesInTheOrderOfTheFile) {
  SmallMatrix stored;
  stored.indptr = {0, 0, 3, 3, 3};
  stored.indices = {2, 2, 2};
  stored.data = {1, 1e16, -1e16};  // 0 in this order, 1 in reverse
  SharedFile file("order.h5");
  file.write([&](hdf5::File& f) { stored.write(f); });
  const MatrixOnRanks read = load_matrix(MPI_COMM_WORLD, spec_of(file));
  EXPECT_EQ(gather(read.slab.local.values), std::vector<double>{0});
}

TEST(LoadMatrix, GeneratesTheSameOnAnyNumberOfRanks) {
  ProblemSpec spec = generated("circuit", 3000);
  const MatrixOnRanks made = load_matrix(MPI_COMM_WORLD, spec);
  const RowSlab whole = generate(std::get<GenerateSpec>(spec.source), 0, 3000);
  expect_same(gather(made.slab), whole.local);
  EXPECT_EQ(made.slab.global_nnz, whole.local.nnz());
  EXPECT_EQ(made.row_starts, split_by_nonzeros(std::span<const std::int32_t>(whole.local.row_ptr),
                                               size_of(MPI_COMM_WORLD)));
}

TEST(LoadProblem, MakesRightHandSides) {
  ProblemSpec spec = generated("poisson2d", 7);
  const Problem from_ones = load_problem(MPI_COMM_WORLD, spec);
  const CsrMatrix<double> a = gather(from_ones.matrix);
  const std::vector<double> b = gather(from_ones.rhs.at(0));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) sum += a.values[k];
    EXPECT_EQ(b.at(i), sum);
  }
  EXPECT_EQ(gather(from_ones.x_exact.at(0)), std::vector<double>(49, 1.0));
  EXPECT_FALSE(from_ones.x0);

  spec.rhs = MadeRhs::ones;
  EXPECT_EQ(gather(load_problem(MPI_COMM_WORLD, spec).rhs.at(0)), std::vector<double>(49, 1.0));
  spec.rhs = MadeRhs::random;
  const std::vector<double> random = gather(load_problem(MPI_COMM_WORLD, spec).rhs.at(0));
  for (const double value : random) EXPECT_LT(std::abs(value), 1);
  EXPECT_NE(random[0], random[48]);
  spec.rhs = Dataset{"/b"};
  expect_contains(refusal(spec, ExitCode::usage), "generated");
}

TEST(LoadProblem, ReadsSeveralRightHandSidesAndAStart) {
  SharedFile file("rhs.h5");
  file.write([&](hdf5::File& f) {
    SmallMatrix().write(f);
    const std::vector<double> b{1, 10, 2, 20, 3, 30, 4, 40};
    f.create_dataset<double>("/b", {4, 2}).write(0, 4, b.data());
    f.create_dataset<double>("/x", {4, 2}).write(0, 4, b.data());
    test::put<double>(f, "/x0", {5, 6, 7, 8});
  });
  ProblemSpec spec = spec_of(file);
  spec.rhs = Dataset{"/b"};
  std::get<SystemFile>(spec.source).x0 = Dataset{"/x0"};
  std::get<SystemFile>(spec.source).x_exact = "/x";
  const Problem problem = load_problem(MPI_COMM_WORLD, spec);
  ASSERT_EQ(problem.rhs.size(), 2u);
  EXPECT_EQ(gather(problem.rhs[0]), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(gather(problem.rhs[1]), (std::vector<double>{10, 20, 30, 40}));
  EXPECT_EQ(gather(problem.x_exact.at(1)), (std::vector<double>{10, 20, 30, 40}));
  EXPECT_EQ(gather(problem.x0.value()), (std::vector<double>{5, 6, 7, 8}));
  EXPECT_EQ(problem.name, "rhs.h5:/A");
}

TEST(BadInput, MissingFile) {
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = "/nowhere/missing.h5";
  expect_contains(refusal(spec), "/nowhere/missing.h5: no such file");
}

TEST(BadInput, NotHdf5) {
  SharedFile file("text.h5");
  if (rank_of(MPI_COMM_WORLD) == 0) std::ofstream(file.path()) << "hello\n";
  MPI_Barrier(MPI_COMM_WORLD);
  expect_contains(refusal(spec_of(file)), "is not an HDF5 file");
}

TEST(BadInput, TruncatedHdf5) {
  SharedFile file("truncated.h5");
  file.write([&](hdf5::File& f) { SmallMatrix().write(f); });
  if (rank_of(MPI_COMM_WORLD) == 0)
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_contains(refusal(spec_of(file)), "truncated");
}

TEST(BadInput, MissingGroupNamesTheOthers) {
  SharedFile file("group.h5");
  file.write([&](hdf5::File& f) { SmallMatrix().write(f, "/K"); });
  expect_contains(refusal(spec_of(file)), "no group /A; give one of: /K");
}

TEST(BadInput, MissingDataset) {
  SharedFile file("dataset.h5");
  file.write([&](hdf5::File& f) {
    hdf5::Group group = f.create_group("/A");
    group.write_attribute("shape", std::vector<std::int64_t>{4, 4});
    test::put(group, "indptr", SmallMatrix().indptr);
    test::put(group, "data", SmallMatrix().data);
  });
  expect_contains(refusal(spec_of(file)),
                  "/A: the dataset indices is missing; the group has: data");
}

TEST(BadInput, MissingRightHandSide) {
  SharedFile file("rhs.h5");
  file.write([&](hdf5::File& f) { SmallMatrix().write(f); });
  ProblemSpec spec = spec_of(file);
  spec.rhs = Dataset{"/b"};
  expect_contains(refusal(spec), "no dataset /b");
}

TEST(BadInput, WrongShape) {
  SmallMatrix matrix;
  matrix.shape = {5, 4};
  expect_contains(refusal(matrix), "/A/indptr has 5 entries; a 5 x 4 matrix needs 6");
  matrix.shape = {4};
  expect_contains(refusal(matrix), "attribute shape");
  matrix.shape = {4, std::int64_t{1} << 33};
  expect_contains(refusal(matrix), "needs a square matrix");
  matrix.shape = {4, std::int64_t{1} << 41};
  expect_contains(refusal(matrix), "2^40");
}

TEST(BadInput, LengthsDisagree) {
  SmallMatrix matrix;
  matrix.data.pop_back();
  expect_contains(refusal(matrix), "/A/data has 6 entries, but");
}

TEST(BadInput, PointersDecrease) {
  SmallMatrix matrix;
  matrix.indptr = {0, 4, 2, 4, 7};
  expect_contains(refusal(matrix), "/A/indptr[2] = 2 comes after 4");
}

TEST(BadInput, PointersDoNotStartAtZero) {
  SmallMatrix matrix;
  matrix.indptr = {1, 2, 4, 4, 7};
  expect_contains(refusal(matrix), "/A/indptr[0] = 1");
}

TEST(BadInput, PointersDoNotEndAtNnz) {
  SmallMatrix matrix;
  matrix.indptr = {0, 2, 4, 4, 6};
  expect_contains(refusal(matrix), "/A/indptr[4] = 6, but there are 7 nonzeros");
  matrix.indptr = {0, 2, 4, 4, 8};
  expect_contains(refusal(matrix), "/A/indptr[4] = 8, but there are 7 nonzeros");
}

TEST(BadInput, IndexOutOfRange) {
  SmallMatrix matrix;
  matrix.indices[5] = 4;
  expect_contains(refusal(matrix), "/A/indices[5] = 4 is out of range: the matrix has 4 columns");
  matrix.indices[5] = -1;
  expect_contains(refusal(matrix), "/A/indices[5] = -1");
  matrix.indices[5] = (std::int64_t{1} << 32) + 2;  // 2 in 32 bits
  expect_contains(refusal(matrix), "/A/indices[5] = 4294967298");
}

TEST(BadInput, NotFiniteData) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    SmallMatrix matrix;
    matrix.data[5] = value;
    expect_contains(refusal(matrix), "in row 3, column 2");
    matrix.data[0] = 1e200;  // large, and finite
    expect_contains(refusal(matrix), "in row 3, column 2");
  }
}

TEST(BadInput, NotFiniteOrWrongRightHandSide) {
  SharedFile file("rhs.h5");
  file.write([&](hdf5::File& f) {
    SmallMatrix().write(f);
    test::put<double>(f, "/nan", {1, 2, std::nan(""), 4});
    test::put<double>(f, "/short", {1, 2, 3});
    f.create_dataset<double>("/none", {4, 0});
  });
  ProblemSpec spec = spec_of(file);
  spec.rhs = Dataset{"/nan"};
  expect_contains(refusal(spec), "/nan has nan in row 2");
  spec.rhs = Dataset{"/short"};
  expect_contains(refusal(spec), "/short has the shape [3]; the matrix has 4 rows");
  spec.rhs = Dataset{"/none"};
  expect_contains(refusal(spec), "/none holds no vector");
}

TEST(BadInput, NotSquare) {
  SmallMatrix matrix;
  matrix.shape = {4, 5};
  expect_contains(refusal(matrix), "is 4 x 5; a linear system needs a square matrix");
}

TEST(BadInput, UnknownGenerator) {
  ProblemSpec spec = generated("poison3d", 4);
  expect_contains(refusal(spec, ExitCode::usage), "poisson3d");
}

}  // namespace
}  // namespace trireme
