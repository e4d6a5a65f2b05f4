// SPDX-License-Identifier: BSD-3-Clause
// Cases with distribution: graph have the answers of distribution: rows; run on 1, 2, 3 and 5
// ranks.
#include "app/system/row_distribution.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/heat_sequence.hpp"
#include "app/solved_cases.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"
#include "petsc/graph_partition.hpp"
#include "petsc/shim.hpp"
#include "sparse/generators.hpp"
#include "support/cg_unless_named.hpp"

namespace trireme {
namespace {

using namespace test;

bool moves_rows() { return size_of(MPI_COMM_WORLD) > 1 && !graph_partitioner().empty(); }

class RowsAndGraph : public Sequence {
 protected:
  // The solutions, row by row, as solution.h5 has them.
  Values solved(const std::string& problem, const std::string& rest, const std::string& how,
                CaseOutcome& outcome, bool resume = false) {
    Case c = test::parse_with_cg("problem: {" + problem + "}\n" + rest + "\ndistribution: " + how +
                                     "\nreport: {directory: " + folder().string() + "}\n",
                                 "test.yaml");
    c.report.resume = resume;
    if (cached_) c.cache = {.use = true, .directory = folder() / "cache"};
    outcome = run_case(MPI_COMM_WORLD, c, nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    return solution();
  }
  Values solution() const {
    const hdf5::Dataset x = hdf5::File::open(folder() / "solution.h5").dataset("/x");
    const std::int64_t width = x.extents().size() == 2 ? x.extents()[1] : 1;
    Values values(static_cast<std::size_t>(x.extents()[0] * width));
    x.read(0, x.extents()[0], values.data());
    MPI_Barrier(MPI_COMM_WORLD);
    return values;
  }
  // Solves both ways, and compares everything that a user sees.
  void expect_same(const std::string& problem, const std::string& rest, double tolerance = 1e-7) {
    SCOPED_TRACE(problem + " / " + rest);
    CaseOutcome rows, graph;
    const Values expected = solved(problem, rest, "rows", rows);
    const Values x = solved(problem, rest, "graph", graph);
    ASSERT_EQ(x.size(), expected.size());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], tolerance) << i;
    EXPECT_EQ(exit_code(graph), exit_code(rows));
    EXPECT_EQ(graph.pattern_hash, rows.pattern_hash);
    EXPECT_EQ(graph.pattern.density, rows.pattern.density);
    EXPECT_EQ(graph.pattern.row_lengths, rows.pattern.row_lengths);
    ASSERT_EQ(graph.runs.size(), rows.runs.size());
    EXPECT_EQ(moves_rows(),
              graph.distribution && graph.distribution->distribution == Distribution::graph);
    graph_ = graph;
    rows_ = rows;
  }
  // Histories agree to rounding where the preconditioner does not depend on the ranks.
  void expect_same_histories() {
    const std::vector<double>&one = rows_.runs[0].history, &two = graph_.runs[0].history;
    EXPECT_NEAR(static_cast<double>(one.size()), static_cast<double>(two.size()), 1);
    for (std::size_t k = 0; k < std::min({one.size(), two.size(), std::size_t{12}}); ++k)
      EXPECT_NEAR(two[k], one[k], 1e-9 * one[k]) << k;
  }

  bool cached_ = false;
  CaseOutcome rows_, graph_;
};

TEST_F(RowsAndGraph, XIsInTheOrderOfTheFileAndHistoriesAgree) {
  expect_same("generate: mesh2d, n: 20, rhs: random", "device: cpu\nkernel: csr");
  expect_same_histories();
  EXPECT_EQ(graph_.runs[0].ordering, "given");
}

// Each row has its diagonal and `others` columns without mirrors, all within its block of rows.
SmallMatrix scattered(std::int64_t rows, std::int64_t others, std::int64_t block) {
  SmallMatrix a{{0}, {}, {}, {rows, rows}};
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = row / block * block;
    std::map<std::int64_t, double> entries{{row, 4.0}};
    for (std::int64_t k = 0; k < others; ++k)
      entries.emplace(first + (row * 17 + 29 * k + 5) % block, 0.25 + 0.01 * k);
    for (const auto& [column, value] : entries) {
      a.indices.push_back(column);
      a.data.push_back(value);
    }
    a.indptr.push_back(std::ssize(a.indices));
  }
  return a;
}

TEST_F(RowsAndGraph, UnsymmetricStructuresToo) {
  SharedFile file("unsymmetric.h5");
  file.write([](hdf5::File& out) { scattered(300, 5, 300).write(out); });
  expect_same("file: " + file.path().string() + ", rhs: random",
              "device: cpu\nkernel: csr\nsolver: {method: bicgstab}");
  expect_same_histories();
}

TEST_F(RowsAndGraph, EveryPreconditioner) {
  for (const char* preconditioner : {"none", "bjacobi", "ilu", "gamg", "sor", "multigrid"})
    expect_same("generate: mesh2d, n: 20, rhs: random",
                fmt::format("device: cpu\nkernel: csr\nsolver: {{preconditioner: {}, rtol: 1e-10}}",
                            preconditioner),
                1e-6);
}

TEST_F(RowsAndGraph, SeveralRightHandSidesAndRepeatedSolves) {
  expect_same("generate: mesh2d, n: 18, rhs: random, rhs_count: 5",
              "device: cpu\nkernel: csr\nrepeat: 2");
  ASSERT_EQ(graph_.runs[0].columns.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_NEAR(static_cast<double>(graph_.runs[0].columns[k].iterations),
                static_cast<double>(rows_.runs[0].columns[k].iterations), 1);
}

TEST_F(RowsAndGraph, OrderingsAndMixedPrecision) {
  expect_same("generate: mesh2d, n: 20, rhs: random", "device: cpu\nkernel: csr\nordering: rcm");
  EXPECT_EQ(graph_.runs[0].ordering, "rcm");
  expect_same("generate: mesh2d, n: 20, rhs: random",
              "device: cpu\nkernel: albus\nprecision: mixed\nsolver: {rtol: 1e-10}");
}

TEST_F(RowsAndGraph, X0XExactAndCoordinatesOfAFile) {
  const GenerateSpec spec{.kind = "elasticity3d-shuffled", .n = 4};
  SharedFile file("elastic.h5");
  const std::int64_t rows = generator_shape(spec).rows;
  const CsrMatrix<double> a = generate(spec, 0, rows).local;
  file.write([&](hdf5::File& out) {
    SmallMatrix stored{{a.row_ptr.begin(), a.row_ptr.end()},
                       {a.col_idx.begin(), a.col_idx.end()},
                       {a.values.begin(), a.values.end()},
                       {a.rows, a.cols}};
    stored.write(out);
    Values x(static_cast<std::size_t>(a.rows)), b(x.size(), 0), x0(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(static_cast<double>(i));
      x0[i] = 0.9 * x[i] + 0.01;
    }
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
        b[row] += a.values[k] * x[a.col_idx[k]];
    put(out, "b", b);
    put(out, "x0", x0);
    put(out, "x_exact", x);
    const std::vector<Array<double>> xyz = generator_coordinates(spec, 0, rows / 3);
    Values places;
    for (std::int64_t node = 0; node < rows / 3; ++node)
      for (const Array<double>& axis : xyz) places.push_back(axis[node]);
    out.create_dataset<double>("coordinates", {rows / 3, 3}).write(0, rows / 3, places.data());
  });
  for (const char* preconditioner : {"jacobi", "gamg", "multigrid"}) {
    expect_same("file: " + file.path().string() + ", rhs: /b, x0: /x0, x_exact: /x_exact",
                fmt::format("device: cpu\nkernel: csr\nsolver: {{preconditioner: {}, rtol: 1e-10}}",
                            preconditioner));
    EXPECT_LE(*graph_.runs[0].relative_error, 1e-7);
    EXPECT_NEAR(static_cast<double>(graph_.runs[0].iterations),
                static_cast<double>(rows_.runs[0].iterations),
                0.3 * static_cast<double>(rows_.runs[0].iterations) + 2);
    EXPECT_NEAR(graph_.runs[0].history.front(), rows_.runs[0].history.front(), 1e-12);
  }
}

TEST_F(RowsAndGraph, ARunGoesOnFromTheStateOfTheOtherDistribution) {
  const std::string problem = "generate: mesh2d, n: 20, rhs: random";
  const std::string whole = "device: cpu\nkernel: csr\nsolver: {max_iterations: 500}";
  const std::string cut = "device: cpu\nkernel: csr\nsolver: {max_iterations: 15}";
  CaseOutcome all, part, rest;
  const Values expected = solved(problem, whole, "rows", all);
  for (const auto& [first, second] :
       {std::pair{"rows", "graph"}, {"graph", "rows"}, {"graph", "graph"}}) {
    SCOPED_TRACE(std::string(first) + ", " + second);
    solved(problem, cut, first, part);
    EXPECT_EQ(exit_code(part), ExitCode::not_converged);
    const Values x = solved(problem, whole, second, rest, true);
    EXPECT_NEAR(static_cast<double>(rest.runs[0].iterations),
                static_cast<double>(all.runs[0].iterations), 2);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-7) << i;
  }
}

// PETSc's own loop counts from 0 where it goes on, and the progress does not.
TEST_F(RowsAndGraph, ProgressOfARunThatGoesOnCountsOn) {
  struct First : CaseObserver {
    std::int64_t iteration_seen = -1;
    void iteration(int, std::int64_t number, double) override {
      if (iteration_seen < 0) iteration_seen = number;
    }
  };
  for (const std::string engine : {"petsc", "resident"}) {
    SCOPED_TRACE(engine);
    const auto run = [&](int limit, bool resume, First& first) {
      Case c = test::parse_with_cg(
          fmt::format("problem: {{generate: poisson2d, n: 20}}\nkernel: csr\n"
                      "device: cpu\nsolver: {{engine: {}, max_iterations: {}}}\n"
                      "report: {{directory: {}}}\n",
                      engine, limit, folder().string()),
          "test.yaml");
      c.report.resume = resume;
      return run_case(MPI_COMM_WORLD, c, &first);
    };
    First before, after;
    run(7, false, before);
    const CaseOutcome outcome = run(1000, true, after);
    EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
    if (rank_of(MPI_COMM_WORLD) != 0) continue;
    EXPECT_EQ(before.iteration_seen, 0);
    EXPECT_GE(after.iteration_seen, 7);
  }
}

TEST_F(RowsAndGraph, TheStepsOfASequence) {
  write();
  const std::string rest = "device: cpu\nkernel: [csr, petsc-aij]\nsolver: {rtol: 1e-11}\n";
  for (const std::string& steps :
       {kAllSteps, std::string("{count: 5, matrix: '/M/{}', rhs: '/b_of/{}'}"),
        std::string("{count: 5, values: '/values/{}', rhs: random}"),
        std::string("[{values: /values/0}, {rhs: ones}, {values: /values/2, rhs: from-ones}]")}) {
    SCOPED_TRACE(steps);
    run(steps, rest + "distribution: rows\n");
    const std::vector<Values> expected = solutions("solution-csr.h5");
    run(steps, rest + "distribution: graph\n");
    expect_near(solutions("solution-csr.h5"), expected, 1e-8);
    expect_near(solutions("solution-petsc-aij.h5"), expected, 1e-8);
  }
}

TEST_F(RowsAndGraph, AStepWithAnotherPatternIsPartitionedAnew) {
  write();
  add([](hdf5::File& out) { arrow_matrix(kRows).write(out); });
  const std::string steps = "[{values: /values/0, rhs: /b_of/0}, {file: " + more() +
                            ", matrix: /A}, {matrix: /M/1, rhs: /b_of/1}, {values: /values/2}]";
  const std::string rest = "device: cpu\nkernel: [csr, sell]\nsolver: {rtol: 1e-12}\n";
  run(steps, rest + "distribution: rows\n");
  const std::vector<Values> expected = solutions("solution-csr.h5");
  const CaseOutcome outcome = run(steps, rest + "distribution: graph\n");
  EXPECT_EQ(exit_code(outcome), ExitCode::converged) << outcome.runs[0].reason;
  expect_near(solutions("solution-csr.h5"), expected, 1e-9);
  expect_near(solutions("solution-sell.h5"), expected, 1e-9);
  EXPECT_TRUE(outcome.runs[0].steps[1].rebuilt);
  EXPECT_FALSE(outcome.runs[0].steps[3].rebuilt);
}

TEST_F(RowsAndGraph, ADenseRowDisconnectedPartsAndFewerRowsThanRanks) {
  const std::string rest = "device: cpu\nkernel: csr\nsolver: {method: bicgstab}";
  expect_same("generate: arrow, n: 200, rhs: random", rest);
  SharedFile file("parts.h5");
  for (const auto& [others, block] : {std::pair{3, 20}, {0, 1}}) {  // the latter: no edge at all
    file.write([&](hdf5::File& out) { scattered(120, others, block).write(out); });
    expect_same("file: " + file.path().string() + ", rhs: random", rest);
  }
  expect_same("generate: poisson2d, n: 1, rhs: random", rest);
  expect_same("generate: poisson2d, n: 2, rhs: random", rest);
}

TEST_F(RowsAndGraph, ARowIsNamedByItsNumberInTheFile) {
  SharedFile file("zero.h5");
  file.write([](hdf5::File& out) {
    SmallMatrix a{{0}, {}, {}, {40, 40}};
    for (std::int64_t row = 0; row < 40; ++row) {
      for (const std::int64_t column : {row, (row * 17 + 5) % 40})
        if (column != 23 || row != 23) {
          a.indices.push_back(column);
          a.data.push_back(column == row ? 4 : 1);
        }
      a.indptr.push_back(std::ssize(a.indices));
    }
    a.write(out);
  });
  const std::string text = error_of("file: " + file.path().string() + ", rhs: ones",
                                    "device: cpu\ndistribution: graph", ExitCode::input);
  EXPECT_NE(text.find("row 23 "), std::string::npos) << text;
}

TEST_F(RowsAndGraph, TheCacheKeepsTheParts) {
  cached_ = true;
  const std::string rest = "device: cpu\nkernel: csr";
  CaseOutcome first, second, other, pairs;
  const Values x = solved("generate: mesh2d, n: 20, rhs: random", rest, "graph", first);
  const Values again = solved("generate: mesh2d, n: 20, rhs: random", rest, "graph", second);
  EXPECT_EQ(x, again);
  solved("generate: mesh2d, n: 20, seed: 9, rhs: random", rest, "graph", other);
  petsc_check(PetscOptionsSetValue(nullptr, "-mat_block_size", "2"));
  solved("generate: mesh2d, n: 20, rhs: random", rest, "graph", pairs);
  petsc_check(PetscOptionsClearValue(nullptr, "-mat_block_size"));
  if (!moves_rows()) return;
  EXPECT_FALSE(first.distribution->from_cache);
  EXPECT_TRUE(second.distribution->from_cache);
  EXPECT_FALSE(other.distribution->from_cache);
  EXPECT_FALSE(pairs.distribution->from_cache);  // two rows lie together
  EXPECT_EQ(first.distribution->placement_hash, second.distribution->placement_hash);

  // The placement of rank 0 has one number twice.
  if (rank_of(MPI_COMM_WORLD) == 0)
    for (const auto& file : std::filesystem::directory_iterator(folder() / "cache")) {
      CacheHit hit = Cache::read(file.path());
      if (hit.head.kind != kPlacementKind || hit.head.key.find("rank: 0 of") == std::string::npos)
        continue;
      const std::size_t size = hit.payload.size();
      std::copy_n(hit.payload.begin() + static_cast<std::ptrdiff_t>(size) - 8, 4,
                  hit.payload.begin() + static_cast<std::ptrdiff_t>(size) - 4);
      std::ofstream out(file.path(), std::ios::binary);
      out << encode_head(hit.head, hit.payload);
      out.write(reinterpret_cast<const char*>(hit.payload.data()),
                static_cast<std::streamsize>(size));
    }
  MPI_Barrier(MPI_COMM_WORLD);
  CaseOutcome damaged, replaced;
  solved("generate: mesh2d, n: 20, rhs: random", rest, "graph", damaged);
  EXPECT_FALSE(damaged.distribution->from_cache);
  EXPECT_TRUE(std::ranges::any_of(damaged.runs[0].notes, [](const std::string& note) {
    return note.find("does not give each row a place of its own") != std::string::npos;
  }));
  solved("generate: mesh2d, n: 20, rhs: random", rest, "graph", replaced);
  EXPECT_TRUE(replaced.distribution->from_cache);
}

TEST_F(RowsAndGraph, AutoKnowsTheIterationsOfAnEarlierRun) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank has nothing to decide";
  cached_ = true;
  const std::string rest = "device: cpu\nkernel: csr\nrepeat: 2";
  CaseOutcome first, second, other;
  solved("generate: mesh2d, n: 150", rest, "auto", first);
  EXPECT_EQ(first.distribution->expected_products, 600);
  const std::int64_t iterations = first.runs[0].iterations;
  ASSERT_NE(iterations, 300);
  solved("generate: mesh2d, n: 150", rest, "auto", second);
  EXPECT_EQ(second.distribution->expected_products, 2 * iterations);
  EXPECT_NE(second.distribution->reason.find(fmt::format("an earlier run took {}", iterations)),
            std::string::npos)
      << second.distribution->reason;
  solved("generate: mesh2d, n: 150", rest + "\nsolver: {preconditioner: none}", "auto", other);
  EXPECT_EQ(other.distribution->expected_products, 600);
}

TEST_F(RowsAndGraph, AutoKnowsNoIterationsOfAnotherMultigrid) {
  if (size_of(MPI_COMM_WORLD) != 2) GTEST_SKIP() << "two ranks show it in the least time";
  cached_ = true;
  const auto reason = [&](const std::string& multigrid) {
    CaseOutcome outcome;
    solved("generate: mesh2d, n: 150",
           "device: cpu\nkernel: csr\nsolver: {preconditioner: multigrid, multigrid: {" +
               multigrid + "}}",
           "auto", outcome);
    return outcome.distribution->reason;
  };
  const std::string known = "an earlier run took", weak = "smoother: l1-jacobi, degree: 1";
  EXPECT_EQ(reason(weak).find(known), std::string::npos);
  EXPECT_NE(reason(weak).find(known), std::string::npos);
  EXPECT_EQ(reason("degree: 4").find(known), std::string::npos);
}

// What is decided for 22,500 rows.
DistributionOutcome decided(const char* kind, const DistributionRequest& request) {
  ProblemSpec spec;
  spec.source = GenerateSpec{.kind = kind, .n = 150};
  const MatrixOnRanks matrix = load_matrix(MPI_COMM_WORLD, spec);
  SharedCache cache(MPI_COMM_WORLD, {});
  const RowDistribution distribution =
      choose_distribution(MPI_COMM_WORLD, matrix.slab, matrix.row_starts, request, cache);
  EXPECT_FALSE(distribution.outcome.reason.empty());
  EXPECT_EQ(distribution.moved != nullptr,
            distribution.outcome.distribution == Distribution::graph);
  return distribution.outcome;
}

// What auto decides.
DistributionOutcome decided(const char* kind, std::int64_t products, bool reproducible = false) {
  DistributionRequest request;
  request.expected_products = products;
  request.reproducible = reproducible;
  return decided(kind, request);
}

constexpr std::int64_t kMany = 1'000'000'000'000;

TEST(AutoDistribution, TakesTheGraphWhereManyProductsAreAhead) {
  EXPECT_EQ(decided("mesh2d", 1).distribution, Distribution::rows);
  EXPECT_EQ(decided("mesh2d", kMany).distribution,
            moves_rows() ? Distribution::graph : Distribution::rows);
}

TEST(AutoDistribution, KeepsRowsThatHaveFewGhosts) {
  const DistributionOutcome outcome = decided("poisson2d", kMany);
  EXPECT_EQ(outcome.distribution, Distribution::rows);
  EXPECT_LE(outcome.rows.ghosts, 300);
}

TEST(AutoDistribution, KeepsRowsWhereResultsMustNotDifferFromRunToRunAndNoCacheKeepsTheParts) {
  EXPECT_EQ(decided("mesh2d", kMany, true).distribution, Distribution::rows);
}

TEST(MissingLibrary, LeavesRowsWhereTheyAreAndIsNamed) {
  DistributionRequest request;
  request.expected_products = kMany;
  request.reproducible = false;
  request.partitioner = {};
  const DistributionOutcome automatic = decided("mesh2d", request);
  request.distribution = Distribution::graph;
  const DistributionOutcome asked = decided("mesh2d", request);
  for (const DistributionOutcome& outcome : {automatic, asked}) {
    EXPECT_EQ(outcome.distribution, Distribution::rows);
    if (size_of(MPI_COMM_WORLD) > 1) {
      EXPECT_NE(outcome.reason.find("PT-Scotch"), std::string::npos) << outcome.reason;
    }
  }
}

TEST(AutoDistribution, FewGhostsAreLeftOfAnUnorderedMesh) {
  if (!moves_rows()) GTEST_SKIP() << "one rank, or no library that partitions graphs";
  const CaseOutcome outcome =
      solve("generate: mesh2d, n: 150", "device: cpu\nkernel: csr\ndistribution: graph");
  ASSERT_TRUE(outcome.distribution->graph);
  EXPECT_LE(outcome.distribution->graph->ghosts, 800);
  EXPECT_GE(outcome.distribution->rows.ghosts, 10'000);
  EXPECT_LE(outcome.distribution->graph->balance, 1.1);
}

}  // namespace
}  // namespace trireme
