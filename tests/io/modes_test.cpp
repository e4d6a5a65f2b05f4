// SPDX-License-Identifier: BSD-3-Clause
// Near-nullspace vectors of a system on any number of ranks: what is read, and what is refused.
#include "io/modes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using test::SharedFile;

const MPI_Comm comm = MPI_COMM_WORLD;
constexpr std::int64_t kRows = 12;

// A dataset of these extents, by rows.
void put(hdf5::File& file, const std::string& name, const std::vector<std::int64_t>& extents,
         const std::vector<double>& values) {
  file.create_dataset<double>(name, extents).write(0, extents[0], values.data());
}

// A tridiagonal matrix of kRows rows, which no multiple of three cuts evenly, as /A; the attribute
// block_size where it is not 0.
void put_matrix(hdf5::File& file, std::int64_t block_size = 0) {
  test::SmallMatrix matrix{.indptr = {0}, .indices = {}, .data = {}, .shape = {kRows, kRows}};
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = std::max<std::int64_t>(0, row - 1);
         column <= std::min(kRows - 1, row + 1); ++column) {
      matrix.indices.push_back(column);
      matrix.data.push_back(row == column ? 4 : -1);
    }
    matrix.indptr.push_back(std::ssize(matrix.indices));
  }
  matrix.write(file);
  if (block_size > 0) file.group("/A").write_attribute("block_size", block_size);
}

// x, y, z of four nodes, node after node.
const std::vector<double> kFourNodes = {0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 1, 3};

class ModesOfAFile : public testing::Test {
 protected:
  void write(const std::function<void(hdf5::File&)>& fill) { file_.write(fill); }
  // A file of the matrix and of what `fill` adds.
  void write_beside_the_matrix(const std::function<void(hdf5::File&)>& fill) {
    write([&](hdf5::File& file) {
      put_matrix(file);
      fill(file);
    });
  }
  ProblemSpec spec(const std::string& coordinates = "",
                   const std::string& near_nullspace = "") const {
    ProblemSpec spec;
    SystemFile& system = spec.source.emplace<SystemFile>();
    system.file = file_.path();
    system.coordinates = coordinates;
    system.near_nullspace = near_nullspace;
    spec.with_modes = true;
    return spec;
  }
  static std::string refusal(const ProblemSpec& spec) {
    try {
      load_problem(comm, spec);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input) << error.what();
      return error.what();
    }
    return "nothing was refused";
  }
  void expect_refused(const std::function<void(hdf5::File&)>& fill, const std::string& part) {
    write_beside_the_matrix(fill);
    const std::string text = refusal(spec());
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  SharedFile file_{"modes.h5"};
};

void expect_whole_nodes(const Problem& problem) {
  for (const std::int64_t start : problem.row_starts)
    EXPECT_EQ(start % problem.modes.block_size, 0) << "a cut within a node";
}

// The sum over the rows of all ranks of the products of column k and `vector`, local rows.
double product(const Modes& modes, std::int32_t k,
               const std::function<double(std::int64_t local_row)>& vector) {
  double sum = 0;
  for (std::int64_t i = 0; i * modes.width < std::ssize(modes.values); ++i)
    sum += modes.values[i * modes.width + k] * vector(i);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

void expect_orthonormal(const Modes& modes) {
  for (std::int32_t j = 0; j < modes.width; ++j)
    for (std::int32_t k = 0; k < modes.width; ++k)
      EXPECT_NEAR(product(modes, j, [&](auto i) { return modes.values[i * modes.width + k]; }),
                  j == k ? 1 : 0, 1e-14)
          << j << " " << k;
}

// The part of the vector value(global row) that the columns do not span, of its length.
double rest(const Problem& problem, const std::function<double(std::int64_t)>& value) {
  const Modes& modes = problem.modes;
  const auto local = [&](std::int64_t i) { return value(problem.matrix.first_row + i); };
  double square = 0;
  for (std::int64_t i = 0; i < problem.matrix.local.rows; ++i) square += local(i) * local(i);
  MPI_Allreduce(MPI_IN_PLACE, &square, 1, MPI_DOUBLE, MPI_SUM, comm);
  double left = square;
  for (std::int32_t k = 0; k < modes.width; ++k) left -= std::pow(product(modes, k, local), 2);
  return std::sqrt(std::abs(left) / square);
}

TEST_F(ModesOfAFile, AreRigidBodyModesOfItsCoordinates) {
  write_beside_the_matrix([](hdf5::File& f) { put(f, "/coordinates", {4, 3}, kFourNodes); });
  const Problem problem = load_problem(comm, spec());
  EXPECT_EQ(problem.modes.block_size, 3);
  ASSERT_EQ(problem.modes.width, 6);
  expect_whole_nodes(problem);
  expect_orthonormal(problem.modes);
  for (std::int64_t axis = 0; axis < 3; ++axis)
    EXPECT_LT(rest(problem, [&](auto row) { return row % 3 == axis ? 1 : 0; }), 1e-7);
  for (std::int64_t from = 0; from < 3; ++from) {
    const std::int64_t to = (from + 1) % 3;
    EXPECT_LT(rest(problem,
                   [&](auto row) {
                     const double* const at = kFourNodes.data() + row / 3 * 3;
                     return row % 3 == from ? -at[to] : row % 3 == to ? at[from] : 0;
                   }),
              1e-7);
  }
  EXPECT_GT(rest(problem, [](auto row) { return row == 0 ? 1 : 0; }), 0.1);
}

TEST_F(ModesOfAFile, InThePlaneAreThree) {
  write_beside_the_matrix([](hdf5::File& f) {
    put(f, "/xy", {6, 2}, {0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 2});
  });
  EXPECT_EQ(load_problem(comm, spec()).modes.width, 0) << "the file has no /coordinates";
  const Problem problem = load_problem(comm, spec("/xy"));
  EXPECT_EQ(problem.modes.block_size, 2);
  EXPECT_EQ(problem.modes.width, 3);
  expect_whole_nodes(problem);
  expect_orthonormal(problem.modes);
}

TEST_F(ModesOfAFile, AreConstantsWhereANodeHasNotOneUnknownPerDimension) {
  write_beside_the_matrix([](hdf5::File& f) {
    put(f, "/coordinates", {3, 2}, {0, 0, 1, 0, 2, 5});
  });
  const Problem problem = load_problem(comm, spec());
  EXPECT_EQ(problem.modes.width, 0);
  EXPECT_EQ(problem.modes.block_size, 4);
  expect_whole_nodes(problem);
}

TEST_F(ModesOfAFile, TakeTheBlockSizeFromTheAttributeOfTheMatrix) {
  write([](hdf5::File& file) {
    put_matrix(file, 6);
    put(file, "/near_nullspace", {kRows}, std::vector<double>(kRows, 2.0));
  });
  const Problem problem = load_problem(comm, spec());
  EXPECT_EQ(problem.modes.width, 1);
  EXPECT_EQ(problem.modes.block_size, 6);
  EXPECT_EQ(problem.rows_together, 6);
  expect_whole_nodes(problem);
  for (const double value : problem.modes.values) EXPECT_NEAR(value, 1 / std::sqrt(12.0), 1e-15);
}

TEST_F(ModesOfAFile, SpanTheVectorsThatAreGiven) {
  const auto first = [](std::int64_t row) { return 1e9 * static_cast<double>(row + 1); };
  const auto second = [](std::int64_t row) { return 1e-9 * static_cast<double>(row * row); };
  std::vector<double> values;
  for (std::int64_t row = 0; row < kRows; ++row)
    values.insert(values.end(), {first(row), second(row)});
  write_beside_the_matrix([&](hdf5::File& f) { put(f, "/near_nullspace", {kRows, 2}, values); });
  const Problem problem = load_problem(comm, spec());
  ASSERT_EQ(problem.modes.width, 2);
  EXPECT_EQ(problem.modes.block_size, 1);
  expect_orthonormal(problem.modes);
  EXPECT_LT(rest(problem, first), 1e-7);
  EXPECT_LT(rest(problem, second), 1e-7);
}

TEST_F(ModesOfAFile, AreReadOnlyWhereTheyAreWanted) {
  const std::vector<double> five_nodes(15);
  write_beside_the_matrix([&](hdf5::File& f) { put(f, "/coordinates", {5, 3}, five_nodes); });
  ProblemSpec unwanted = spec();
  unwanted.with_modes = false;
  const Problem problem = load_problem(comm, unwanted);
  EXPECT_EQ(problem.modes.width, 0);
  EXPECT_EQ(problem.rows_together, 1);
  EXPECT_EQ(load_problem(comm, spec("none")).modes.width, 0);
}

TEST_F(ModesOfAFile, ComeFromOneOfTwoDatasets) {
  write_beside_the_matrix([](hdf5::File& f) {
    put(f, "/coordinates", {4, 3}, kFourNodes);
    put(f, "/near_nullspace", {kRows}, std::vector<double>(kRows, 1.0));
  });
  EXPECT_NE(refusal(spec()).find("has both /coordinates and /near_nullspace"), std::string::npos)
      << refusal(spec());
  EXPECT_EQ(load_problem(comm, spec("none")).modes.width, 1);
  EXPECT_EQ(load_problem(comm, spec("", "none")).modes.width, 6);
  EXPECT_EQ(load_problem(comm, spec("/coordinates")).modes.width, 6);
  EXPECT_EQ(load_problem(comm, spec("", "/near_nullspace")).modes.width, 1);
}

TEST_F(ModesOfAFile, AreRefusedWhereShapesDoNotFit) {
  expect_refused(
      [](auto& f) {
        put(f, "/coordinates", {3, 4}, kFourNodes);
      },
      "/coordinates has the shape [3, 4]; [nodes, 2] or [nodes, 3] is needed");
  expect_refused([](auto& f) { put(f, "/coordinates", {12}, kFourNodes); },
                 "/coordinates has the shape [12, 1]; [nodes, 2] or [nodes, 3] is needed");
  expect_refused(
      [](auto& f) {
        put(f, "/coordinates", {5, 2}, std::vector<double>(10, 1.0));
      },
      "/coordinates has 5 nodes, and the matrix has 12 rows, which is no multiple");
  expect_refused([](auto& f) { put(f, "/near_nullspace", {11}, std::vector<double>(11, 1.0)); },
                 "/near_nullspace has the shape [11]; the matrix has 12 rows");
  write([](hdf5::File& file) { put_matrix(file, 5); });
  EXPECT_NE(refusal(spec()).find("block_size, the unknowns per node, must be"), std::string::npos);
  write([](hdf5::File& file) {
    put_matrix(file, 2);
    put(file, "/coordinates", {4, 3}, kFourNodes);
  });
  EXPECT_NE(
      refusal(spec()).find("3 unknowns per node, but the attribute block_size of the matrix is 2"),
      std::string::npos);
  EXPECT_NE(refusal(spec("/missing")).find("no dataset /missing"), std::string::npos);
}

TEST_F(ModesOfAFile, AreRefusedWhereNumbersAreOfNoUse) {
  std::vector<double> bad = kFourNodes;
  bad[10] = std::nan("");
  expect_refused(
      [&](auto& f) {
        put(f, "/coordinates", {4, 3}, bad);
      },
      "/coordinates has nan in row 3");
  std::vector<double> values(kRows, 1.0);
  values[7] = std::numeric_limits<double>::infinity();
  expect_refused([&](auto& f) { put(f, "/near_nullspace", {kRows}, values); },
                 "/near_nullspace has inf in row 7");
  expect_refused([&](auto& f) { put(f, "/near_nullspace", {kRows}, std::vector<double>(kRows)); },
                 "vector 0 of /near_nullspace (from 0) has the norm 0; remove it");
  expect_refused(
      [&](auto& f) { put(f, "/near_nullspace", {kRows}, std::vector<double>(kRows, 1e300)); },
      "has the norm inf; divide it by its largest entry");
  std::vector<double> three;
  for (int row = 0; row < kRows; ++row)
    three.insert(three.end(), {1.0, 1.0 * row, 2.0 - 3.0 * row});
  expect_refused(
      [&](auto& f) {
        put(f, "/near_nullspace", {kRows, 3}, three);
      },
      "vector 2 of /near_nullspace (from 0) is a combination of the vectors before it");
}

TEST(ModesOfAGeneratedProblem, NeedNoFile) {
  ProblemSpec spec;
  spec.source = GenerateSpec{.kind = "elasticity3d-shuffled", .n = 5};
  EXPECT_EQ(load_problem(comm, spec).modes.width, 0);
  spec.with_modes = true;
  const Problem problem = load_problem(comm, spec);
  EXPECT_EQ(problem.modes.width, 6);
  EXPECT_EQ(problem.modes.block_size, 3);
  expect_whole_nodes(problem);
  expect_orthonormal(problem.modes);
  spec.source = GenerateSpec{.kind = "poisson3d", .n = 5};
  EXPECT_EQ(load_problem(comm, spec).modes.width, 0);
}

TEST(ModesInWords, SayWhatTheyAreAndWhereTheyComeFrom) {
  const ModesPlace none,
      nodes{.coordinates = "/c", .near_nullspace = "", .block_size = 3, .nodes = 9, .dimension = 3},
      given{.coordinates = "", .near_nullspace = "/n"},
      blocks{.coordinates = "", .near_nullspace = "", .block_size = 4};
  EXPECT_EQ(describe(none, {}), "");
  EXPECT_EQ(describe(nodes, {.values = {}, .width = 6}), "6 rigid-body modes, 9 nodes in /c");
  EXPECT_EQ(describe(given, {.values = {}, .width = 2}), "2 vectors in /n");
  EXPECT_EQ(describe(blocks, {}), "constants of 4 unknowns per node");
}

}  // namespace
}  // namespace trireme
