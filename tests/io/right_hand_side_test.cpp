// SPDX-License-Identifier: BSD-3-Clause
// Which b and x0 a problem has, on any number of ranks: those of its file unless the case names
// others, and those of files of every kind that vectors are read from.
#include "io/right_hand_side.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <fstream>
#include <string>
#include <vector>

#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"

namespace trireme::right_hand_sides {
namespace {

using test::SharedFile;
using test::SmallMatrix;

const std::vector<double> kB = {3, 1, -4, 1.5};
const std::string kBanner = "%%MatrixMarket matrix ";
const std::string kMatrix =
    kBanner + "coordinate real general\n4 4 4\n1 1 2\n2 2 4\n3 3 5\n4 4 8\n";
const std::string kArray = kBanner + "array real general\n4 1\n3\n1\n-4\n1.5\n";

ProblemSpec of_file(const std::filesystem::path& file) {
  ProblemSpec spec;
  spec.source.emplace<SystemFile>().file = file;
  return spec;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  if (rank_of(MPI_COMM_WORLD) == 0) std::ofstream(path, std::ios::binary) << text;
  MPI_Barrier(MPI_COMM_WORLD);
}

// Whether this rank's rows of `mine` are those of `all`.
void expect_rows(const Problem& problem, const Array<double>& mine,
                 const std::vector<double>& all) {
  ASSERT_EQ(std::ssize(mine), problem.matrix.local.rows);
  for (std::int64_t i = 0; i < std::ssize(mine); ++i)
    EXPECT_EQ(mine[i], all.at(problem.matrix.first_row + i));
}

std::string refusal(const ProblemSpec& spec) {
  try {
    load_problem(MPI_COMM_WORLD, spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// A file with /b and /x0, or other vectors of these names.
void write_system(SharedFile& file, const std::vector<double>& b = kB,
                  const std::vector<double>& x0 = {5, 6, 7, 8}) {
  file.write([&](hdf5::File& f) {
    SmallMatrix().write(f);
    test::put(f, "/b", b);
    test::put(f, "/x0", x0);
  });
}

TEST(RightHandSide, IsTheFilesOwnWhereTheCaseNamesNone) {
  SharedFile file("own.h5");
  write_system(file);
  const Problem problem = load_problem(MPI_COMM_WORLD, of_file(file.path()));
  ASSERT_EQ(problem.rhs.size(), 1u);
  expect_rows(problem, problem.rhs[0], kB);
  ASSERT_TRUE(problem.x0);
  expect_rows(problem, *problem.x0, {5, 6, 7, 8});
  EXPECT_TRUE(problem.x_exact.empty());
  EXPECT_EQ(problem.chosen.b, "/b");
  EXPECT_EQ(problem.chosen.b_note, "of the file");
  EXPECT_EQ(problem.chosen.x0, "/x0");
}

TEST(RightHandSide, OfTheFileIsLeftAsideWhereTheCaseSaysSo) {
  SharedFile file("aside.h5");
  write_system(file, {1, 2}, {1});  // lengths that nobody reads
  ProblemSpec spec = of_file(file.path());
  spec.rhs = MadeRhs::ones;
  std::get<SystemFile>(spec.source).x0 = Dataset{std::string(kNoDataset)};
  const Problem problem = load_problem(MPI_COMM_WORLD, spec);
  expect_rows(problem, problem.rhs.at(0), {1, 1, 1, 1});
  EXPECT_FALSE(problem.x0);
  EXPECT_EQ(problem.chosen.b, "ones");
  EXPECT_EQ(problem.chosen.b_note, "/b is left aside");
  EXPECT_EQ(problem.chosen.x0, "");
}

TEST(RightHandSide, IsMadeWhereTheFileHasNone) {
  SharedFile file("none.h5");
  file.write([](hdf5::File& f) {
    SmallMatrix().write(f);
    hdf5::Group group = f.create_group("/b");  // of the steps of a sequence
    test::put(group, "0", kB);
  });
  const Problem problem = load_problem(MPI_COMM_WORLD, of_file(file.path()));
  expect_rows(problem, problem.rhs.at(0), {3, 7, 0, 10});
  EXPECT_EQ(problem.x_exact.size(), 1u);
  EXPECT_EQ(problem.chosen.b, "from-ones");
  EXPECT_EQ(problem.chosen.b_note, "the file has no /b");
}

TEST(RightHandSide, OfAnotherLengthIsRefusedAndSaysHowToGoOn) {
  SharedFile file("short.h5");
  write_system(file, {1, 2, 3});
  const std::string text = refusal(of_file(file.path()));
  expect_contains(text, "/b has the shape [3]; the matrix has 4 rows");
  expect_contains(text, "problem.rhs: from-ones leaves it aside");
  write_system(file, kB, {1, 2, 3});
  expect_contains(refusal(of_file(file.path())), "/x0 has the shape [3]; the matrix has 4 rows");
  expect_contains(refusal(of_file(file.path())), "problem.x0: none leaves it aside");
}

// Step 0 brings a right-hand side, so that /b may have the rows of all steps.
TEST(RightHandSide, IsNotReadWhereTheFirstStepBringsOne) {
  SharedFile file("steps.h5");
  write_system(file, {1, 2});
  ProblemSpec spec = of_file(file.path());
  spec.steps.emplace_back().rhs = Dataset{"/b"};
  EXPECT_EQ(load_problem(MPI_COMM_WORLD, spec).chosen.b, "from the steps");
  spec.steps.front().rhs.reset();
  expect_contains(refusal(spec), "/b has the shape [2]");
}

// NAME_b.mtx beside NAME.mtx, as the SuiteSparse collection has it.
TEST(RightHandSide, LiesBesideAMatrixMarketFile) {
  SharedFile file("can.mtx");
  write_text(file.path(), kMatrix);
  EXPECT_EQ(load_problem(MPI_COMM_WORLD, of_file(file.path())).chosen.b_note, "the file has no /b");
  const std::filesystem::path beside = file.path().parent_path() / "can_b.mtx";
  write_text(beside, kArray);
  const Problem problem = load_problem(MPI_COMM_WORLD, of_file(file.path()));
  expect_rows(problem, problem.rhs.at(0), kB);
  EXPECT_EQ(problem.chosen.b, "can_b.mtx");
  EXPECT_EQ(problem.chosen.b_note, "beside the file");

  write_text(beside, kBanner + "array real general\n3 1\n1\n2\n3\n");
  const std::string text = refusal(of_file(file.path()));
  expect_contains(text, "can_b.mtx: the vector has 3 entries, the matrix 4 rows");
  expect_contains(text, "problem.rhs: from-ones");

  write_text(beside, "damaged\n");
  expect_contains(refusal(of_file(file.path())), "can_b.mtx: line 1");
  ProblemSpec made = of_file(file.path());
  made.rhs = MadeRhs::ones;
  EXPECT_EQ(load_problem(MPI_COMM_WORLD, made).chosen.b_note, "can_b.mtx is left aside");
}

TEST(InitialGuess, IsReadFromAFileOfItsOwn) {
  SharedFile file("guessed.h5");
  write_system(file);
  SharedFile other("guess.h5");
  other.write([](hdf5::File& f) {
    test::put(f, "/b", std::vector<double>{1, 1, 1, 1});
    test::put(f, "/v", std::vector<double>{4, 3, 2, 1});
  });
  ProblemSpec spec = of_file(file.path());
  const auto from = [&](const std::filesystem::path& path, const std::string& name) {
    std::get<SystemFile>(spec.source).x0 = VectorFile{.file = path, .name = name};
    return load_problem(MPI_COMM_WORLD, spec);
  };
  const Problem named = from(other.path(), "/v");
  ASSERT_TRUE(named.x0);
  expect_rows(named, *named.x0, {4, 3, 2, 1});
  EXPECT_EQ(named.chosen.x0, other.path().filename().string() + ":/v");
  expect_rows(named, named.rhs.at(0), kB);

  const std::filesystem::path array = file.path().parent_path() / "guess.mtx";
  write_text(array, kArray);
  const Problem unnamed = from(array, "/x0");  // a file of one vector has no names
  ASSERT_TRUE(unnamed.x0);
  expect_rows(unnamed, *unnamed.x0, kB);
  EXPECT_EQ(unnamed.chosen.x0, "guess.mtx");

  write_text(array, kBanner + "array real general\n4 2\n1\n2\n3\n4\n5\n6\n7\n8\n");
  expect_contains(refusal(spec), "guess.mtx holds 2 vectors; an initial guess is one vector");
  write_text(array, kBanner + "array real general\n3 1\n1\n2\n3\n");
  expect_contains(refusal(spec), "guess.mtx: the vector has 3 entries, the matrix 4 rows");
}

// A vector as VecView writes it.
std::string petsc_vector(const std::vector<double>& values) {
  std::string bytes;
  const auto add = [&](std::uint64_t word, int width) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
      bytes += static_cast<char>(word >> shift & 0xff);
  };
  add(1211214, 4);
  add(values.size(), 4);
  for (const double value : values) add(std::bit_cast<std::uint64_t>(value), 8);
  return bytes;
}

TEST(RightHandSide, IsReadFromEveryKindOfFileByItsContent) {
  SharedFile file("system.h5");
  write_system(file, {1, 2});
  const std::filesystem::path folder = file.path().parent_path();
  const std::pair<const char*, std::string> files[] = {
      {"market.txt", kArray},
      {"market.dat", kBanner + "coordinate real general\n4 1 4\n1 1 3\n2 1 1\n3 1 -4\n4 1 1.5\n"},
      {"plain.txt", "# b\n3.0e0\n1\n\n-4.0\n+1.5D+00\n"},
      {"comma.csv", "3,\n1,\n-4,\n1.5"},
      {"vector", petsc_vector(kB)},
  };
  for (const auto& [name, text] : files) {
    SCOPED_TRACE(name);
    write_text(folder / name, text);
    ProblemSpec spec = of_file(file.path());
    spec.rhs = VectorFile{.file = folder / name};
    const Problem problem = load_problem(MPI_COMM_WORLD, spec);
    ASSERT_EQ(problem.rhs.size(), 1u);
    expect_rows(problem, problem.rhs[0], kB);
    EXPECT_EQ(problem.chosen.b, name);
  }
  SharedFile other("other.h5");
  other.write([](hdf5::File& f) { test::put(f, "/c", kB); });
  ProblemSpec spec = of_file(file.path());
  spec.rhs = VectorFile{.file = other.path(), .name = "/c"};
  const Problem problem = load_problem(MPI_COMM_WORLD, spec);
  expect_rows(problem, problem.rhs.at(0), kB);
  EXPECT_EQ(problem.chosen.b, "other.h5:/c");
}

TEST(RightHandSide, TakesTheColumnsOfAGzippedTextForSeveral) {
  SharedFile file("system.h5");
  write_system(file);
  const std::filesystem::path text = file.path().parent_path() / "two.txt.gz";
  if (rank_of(MPI_COMM_WORLD) == 0) {
    const gzFile out = gzopen(text.c_str(), "wb");
    gzputs(out, "3 10\n1 20\n-4 30\n1.5 40\n");
    gzclose(out);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  ProblemSpec spec = of_file(file.path());
  spec.rhs = VectorFile{.file = text};
  const Problem problem = load_problem(MPI_COMM_WORLD, spec);
  ASSERT_EQ(problem.rhs.size(), 2u);
  expect_rows(problem, problem.rhs[0], kB);
  expect_rows(problem, problem.rhs[1], {10, 20, 30, 40});
}

TEST(RightHandSide, InADamagedFileIsRefusedWithItsPlace) {
  SharedFile file("system.h5");
  write_system(file);
  const std::filesystem::path b = file.path().parent_path() / "b.txt";
  const std::pair<std::string, std::string> wrong[] = {
      {"1\n2\n3\n", "b.txt: the vector has 3 entries, the matrix 4 rows"},
      {"1\n2\n3 4\n4\n", "b.txt: line 3: 2 numbers, but 1 in the lines before"},
      {"1\n2\nnan\n4\n", "b.txt: line 3: only finite numbers"},
      {"1\n2\n# no\n3 x\n", "b.txt: line 4: only finite numbers"},
      {"hello\n", "is of no known format; known: HDF5"},
      {"", "is of no known format"},
      {petsc_vector({1, 2}), "b.txt: the vector has 2 entries, the matrix 4 rows"},
      {petsc_vector(kB).substr(0, 20), "the file ends too early"},
  };
  for (const auto& [text, message] : wrong) {
    write_text(b, text);
    ProblemSpec spec = of_file(file.path());
    spec.rhs = VectorFile{.file = b};
    expect_contains(refusal(spec), message);
  }
  ProblemSpec spec = of_file(b);  // a vector where a matrix is needed
  write_text(b, petsc_vector(kB));
  expect_contains(refusal(spec), "begins with a vector");
}

}  // namespace
}  // namespace trireme::right_hand_sides
