// SPDX-License-Identifier: BSD-3-Clause
// A file that all ranks write reads back; a failed one leaves nothing behind.
#include "io/output_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "io/result.hpp"

namespace trireme {
namespace {

ProblemSpec generated(const std::string& kind, std::int64_t n) {
  ProblemSpec spec;
  GenerateSpec& generate = spec.source.emplace<GenerateSpec>();
  generate.kind = kind;
  generate.n = n;
  return spec;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  return names;
}

TEST(OutputFile, ReadsBackWhatAllRanksWrote) {
  // Of 3 rows, some of 5 ranks own none. 200000 rows take more than one piece.
  for (const std::int64_t n : {3, 200000}) {
    const Problem problem = load_problem(MPI_COMM_WORLD, generated("short", n));
    const RowSlab& slab = problem.matrix;
    const RowRange rows{slab.first_row, slab.local.rows, n};
    test::SharedFile shared("out.h5");
    OutputFile file(MPI_COMM_WORLD, shared.path());
    file.write_matrix("/A", slab);
    const Array<double> random = random_vector(rows, 3);
    const std::vector<Array<double>> three{problem.rhs[0], problem.x_exact[0], random};
    file.write_vectors("/b", rows, three);
    file.write_vectors("/x", rows, problem.rhs);
    file.commit();

    ProblemSpec spec;
    spec.source.emplace<SystemFile>().file = shared.path();
    spec.rhs = Dataset{"/b"};
    std::get<SystemFile>(spec.source).x0 = Dataset{"/x"};
    const Problem back = load_problem(MPI_COMM_WORLD, spec);
    EXPECT_EQ(back.row_starts, problem.row_starts);
    EXPECT_EQ(back.matrix.local.row_ptr, slab.local.row_ptr);
    EXPECT_EQ(back.matrix.local.col_idx, slab.local.col_idx);
    EXPECT_EQ(back.matrix.local.values, slab.local.values);
    EXPECT_EQ(back.rhs, three);
    EXPECT_EQ(back.x0, problem.rhs[0]);
  }
}

TEST(OutputFile, HoldsTheResult) {
  const Problem problem = load_problem(MPI_COMM_WORLD, generated("poisson2d", 9));
  test::SharedFile shared("solution.h5");
  ResultFile result;
  result.rows = {problem.matrix.first_row, problem.matrix.local.rows, problem.matrix.global_rows};
  result.x = problem.x_exact;
  const std::vector<double> history{1, 0.5, 1e-9}, times{3.5, 3.25};
  result.residual_history = history;
  result.kernel_time = times;
  result.attributes = {{"case", std::string(100000, 'c')}, {"kernel", "albus"}};
  write_result(MPI_COMM_WORLD, shared.path(), result);

  const hdf5::File file = hdf5::File::open(shared.path());
  EXPECT_EQ(file.dataset("/x").extents(), std::vector<std::int64_t>{81});
  std::vector<double> read(3);
  file.dataset("/residual_history").read(0, 3, read.data());
  EXPECT_EQ(read, history);
  EXPECT_EQ(file.dataset("/kernel_time").string_attribute("unit"), "us");
  EXPECT_EQ(file.string_attribute("case"), std::string(100000, 'c'));
  EXPECT_EQ(file.string_attribute("kernel"), "albus");
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  test::SharedFile shared("out.h5");
  {
    OutputFile file(MPI_COMM_WORLD, shared.path());
    file.write_attribute("half", "written");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(names_in(shared.path().parent_path()), std::vector<std::string>{});
}

TEST(OutputFile, KeepsTheOldFileUntilTheNewOneIsWhole) {
  test::SharedFile shared("out.h5");
  for (const std::string text : {"old", "new"}) {
    OutputFile file(MPI_COMM_WORLD, shared.path());
    file.write_attribute("text", text);
    if (text == "old") file.commit();
  }
  EXPECT_EQ(hdf5::File::open(shared.path()).string_attribute("text"), "old");
}

TEST(OutputFile, TwoWritersOfOneNameDoNotShareATemporaryFile) {
  test::SharedFile shared("out.h5");
  OutputFile first(MPI_COMM_WORLD, shared.path()), second(MPI_COMM_WORLD, shared.path());
  first.write_attribute("writer", "first");
  second.write_attribute("writer", "second");
  second.commit();
  first.commit();
  EXPECT_EQ(hdf5::File::open(shared.path()).string_attribute("writer"), "first");
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Hdf5File, IsNeverCreatedThroughASymbolicLink) {
  test::SharedFile shared("link.h5");
  if (rank_of(MPI_COMM_WORLD) != 0) return;
  const std::filesystem::path victim = shared.path().parent_path() / "victim";
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, shared.path());
  EXPECT_THROW(hdf5::File::create(shared.path()), Error);
  EXPECT_EQ(std::filesystem::file_size(victim), 8u);
}

TEST(OutputFile, RefusesAPlaceThatCannotBeWrittenOnAllRanks) {
  for (const std::string place : {"/nowhere/out.h5", "/"}) {
    try {
      OutputFile file(MPI_COMM_WORLD, place);
      ADD_FAILURE() << place;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
    }
  }
}

}  // namespace
}  // namespace trireme
