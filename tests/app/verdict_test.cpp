// SPDX-License-Identifier: BSD-3-Clause
// The exit code of every reason for which a KSP may end, and solves that diverge. Run on 1 and 3
// ranks.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "app/solved_cases.hpp"
#include "app/solves/advice.hpp"
#include "io/problem_file.hpp"
#include "petsc/ksp/reasons.hpp"

namespace trireme {
namespace {

using namespace test;

// A CG that ends for the given reason, by a convergence test that says so.
Verdict verdict_by(KSPConvergedReason reason) {
  constexpr PetscInt rows = 12;
  MatHandle a;
  petsc_check(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, rows, 1, nullptr, 0,
                           nullptr, a.put()));
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    petsc_check(MatSetValue(a, row, row, 1.0 + static_cast<double>(row), INSERT_VALUES));
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  VecHandle x, b;
  petsc_check(MatCreateVecs(a, x.put(), b.put()));
  petsc_check(VecSet(b, 1));
  KspHandle ksp;
  petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
  petsc_check(KSPSetOperators(ksp, a, a));
  petsc_check(KSPSetType(ksp, KSPCG));
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, PCNONE));
  const auto say = [](KSP, PetscInt iteration, PetscReal, KSPConvergedReason* into,
                      void* context) -> PetscErrorCode {
    *into = iteration < 2 ? KSP_CONVERGED_ITERATING : *static_cast<KSPConvergedReason*>(context);
    return kPetscSuccess;
  };
  petsc_check(KSPSetConvergenceTest(ksp, say, &reason, nullptr));
  petsc_check(KSPSolve(ksp, b, x));
  return verdict_of(ksp);
}

struct Meaning {
  int reason;
  ExitCode code;
  const char* words;
};

// PETSc's numbers; 0 is a solve that has not begun.
constexpr Meaning kMeanings[] = {
    {1, ExitCode::converged, "converged: relative tolerance"},
    {2, ExitCode::converged, "converged: relative tolerance"},
    {3, ExitCode::converged, "converged: absolute tolerance"},
    {4, ExitCode::converged, "converged: the iterations asked for"},
    {8, ExitCode::converged, "converged"},
    {9, ExitCode::converged, "converged: absolute tolerance"},
    {-2, ExitCode::not_converged, "not converged"},
    {-3, ExitCode::not_converged, "maximum iterations"},
    {-4, ExitCode::not_converged, "divergence bound"},
    {-5, ExitCode::breakdown, "cannot go on"},
    {-6, ExitCode::breakdown, "cannot go on"},
    {-7, ExitCode::breakdown, "not symmetric"},
    {-8, ExitCode::breakdown, "preconditioner is indefinite"},
    {-9, ExitCode::breakdown, "NaN or infinity"},
    {-10, ExitCode::breakdown, "matrix is indefinite"},
    {-11, ExitCode::breakdown, "could not be built"},
};

TEST(Verdict, OfEveryReasonHasItsExitCodeAndWords) {
  for (const Meaning& meaning : kMeanings) {
    SCOPED_TRACE(meaning.reason);
    const Verdict verdict = verdict_by(static_cast<KSPConvergedReason>(meaning.reason));
    EXPECT_EQ(static_cast<int>(verdict.reason), meaning.reason);
    EXPECT_EQ(verdict.exit_code, meaning.code);
    EXPECT_EQ(verdict.converged, meaning.code == ExitCode::converged);
    EXPECT_NE(verdict.text.find(meaning.words), std::string::npos) << verdict.text;
    EXPECT_EQ(verdict.text.starts_with("converged"), verdict.converged) << verdict.text;
    const std::string name = fmt::format(" ({})", KSPConvergedReasons[meaning.reason]);
    EXPECT_TRUE(verdict.text.ends_with(name)) << verdict.text;
  }
}

TEST(Verdict, OfASolveThatHasNotBegunIsNotConverged) {
  KspHandle ksp;
  petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
  petsc_check(KSPSetType(ksp, KSPCG));
  const Verdict verdict = verdict_of(ksp);
  EXPECT_EQ(verdict.exit_code, ExitCode::not_converged);
  EXPECT_FALSE(verdict.converged);
}

enum class Signs { one, both, zero };  // of the diagonal; zero: some entry is zero

MatrixLook looks(bool symmetric, Signs signs) {
  MatrixLook look{.rows = 9, .nnz = 30, .symmetric_values = symmetric};
  look.negative_diagonal = signs == Signs::both ? 4 : 0;
  look.zero_diagonal = signs == Signs::zero ? 1 : 0;
  look.positive_diagonal = 9 - look.negative_diagonal - look.zero_diagonal;
  return look;
}

struct Advised {
  const char* words;
  FailedSolve failed;
  MatrixLook matrix;
};

TEST(Advice, NamesWhatAppliesAndWasNotTried) {
  using enum Signs;
  const AnyPreconditioner none("none"), jacobi("jacobi"), multigrid("multigrid"),
      bjacobi("bjacobi"), ilu("ilu"), dense_blocks("trireme_block_jacobi");
  const Advised table[] = {
      {"; try preconditioner multigrid, or method auto, or method direct, or "
       "solver.max_iterations above 50",
       {.reason = -3, .method = "cg", .preconditioner = jacobi, .max_iterations = 50},
       looks(true, one)},
      {"; try preconditioner multigrid, or method auto with preconditioner auto, or method direct",
       {.reason = -5, .method = "cg", .preconditioner = none, .names_preconditioner = true},
       looks(true, one)},
      {"; try method auto, or method direct, or solver.max_iterations above 50",
       {.reason = -3,
        .method = "cg",
        .preconditioner = jacobi,
        .left = {multigrid},
        .max_iterations = 50},
       looks(true, one)},
      {"; try method auto, or method direct, or solver.max_iterations above 50",
       {.reason = -3, .method = "minres", .preconditioner = jacobi, .max_iterations = 50},
       looks(true, both)},
      {"; the matrix is not symmetric, as the method needs it to be; try method bicgstab, or "
       "method auto, or method direct, or solver.max_iterations above 50",
       {.reason = -3, .method = "cg", .preconditioner = jacobi, .max_iterations = 50},
       looks(false, one)},
      {"; the bound is 1e+08 times the larger of ||b|| and the first residual (petsc: {ksp_divtol: "
       "1e+08}); try method auto, or method direct",
       {.reason = -4, .method = "bicgstab", .preconditioner = jacobi, .divergence_bound = 1e8},
       looks(false, both)},
      {"; try method auto, or method direct",
       {.reason = -5, .method = "bicgstab", .preconditioner = bjacobi, .block_preconditioner = ilu},
       looks(false, one)},
      {"; try method direct, or solver.restart above 30",
       {.reason = -5,
        .method = "gmres",
        .preconditioner = ilu,
        .climbs = true,
        .restart = 30,
        .resident = false},
       looks(false, zero)},
      {"; try solver.restart above 30, or solver.max_iterations above 50",
       {.reason = -3,
        .method = "gmres",
        .preconditioner = ilu,
        .climbs = true,
        .tried = {"bicgstab", "direct"},
        .max_iterations = 50,
        .restart = 30},
       looks(false, zero)},
      {"; a cycle of 30 iterations made the residual no smaller; try method auto, or method "
       "direct, "
       "or solver.restart above 30",
       {.reason = -5, .method = "gmres", .preconditioner = jacobi, .restart = 30},
       looks(false, one)},
      {"; try method minres, or method auto, or method direct",
       {.reason = -10, .method = "cg", .preconditioner = jacobi},
       looks(true, one)},
      {"; try method minres with preconditioner none, or method auto, or method direct",
       {.reason = -10, .method = "cg", .preconditioner = multigrid},
       looks(true, zero)},
      {"; the matrix is not symmetric; try method bicgstab, or method auto, or method direct",
       {.reason = -10, .method = "cg", .preconditioner = jacobi},
       looks(false, one)},
      {"; the diagonal has no one sign, so that the matrix is indefinite; try method minres, or "
       "method auto, or method direct",
       {.reason = -8, .method = "cg", .preconditioner = jacobi},
       looks(true, both)},
      {"; try preconditioner jacobi, or method auto, or method direct",
       {.reason = -8, .method = "minres", .preconditioner = dense_blocks},
       looks(true, both)},
      {"; try preconditioner none, or method auto, or method direct",
       {.reason = -8, .method = "minres", .preconditioner = dense_blocks},
       looks(true, zero)},
      {"; try method minres with preconditioner jacobi, or method auto, or method direct",
       {.reason = -8, .method = "cg", .preconditioner = AnyPreconditioner("icc")},
       looks(true, one)},
      {"; try method bicgstab, or method auto, or method direct",
       {.reason = -8, .method = "cg", .preconditioner = jacobi},
       looks(false, both)},
      {"; try method auto, or method direct",
       {.reason = -9, .method = "cg", .preconditioner = multigrid},
       looks(true, one)},
      {"; try method auto, or method direct, or solver.restart above 30",
       {.reason = -11, .method = "gmres", .preconditioner = ilu, .restart = 30},
       looks(false, zero)},
  };
  for (const Advised& row : table) EXPECT_EQ(advice(row.failed, row.matrix), row.words);
}

// The first suggestion of a line: the method and the preconditioner that it names, if any.
struct Suggestion {
  std::string method, preconditioner;
};
Suggestion first_suggestion(const std::string& line) {
  const auto word_after = [&](const std::string& before, std::size_t from) -> std::string {
    const std::size_t at = line.find(before, from);
    if (at == std::string::npos || at >= line.find(", or ", from)) return "";
    const std::size_t begin = at + before.size();
    return line.substr(begin, line.find_first_of(" ,;(", begin) - begin);
  };
  const std::size_t from = std::min(line.find("; try "), line.find("; use "));
  if (from == std::string::npos) return {};
  return {word_after("method ", from), word_after("preconditioner ", from)};
}

// Whatever the reasons are for which the runs fail: whoever follows the first suggestion comes to
// `method: auto`, and to no setting twice.
TEST(Advice, IsNotCircular) {
  constexpr int kReasons[] = {-3, -4, -5, -6, -7, -8, -9, -10, -11};
  struct Setting {
    std::string method, preconditioner;
    bool operator==(const Setting&) const = default;
  };
  const std::function<void(const MatrixLook&, std::vector<Setting>)> follow =
      [&](const MatrixLook& look, std::vector<Setting> path) {
        ASSERT_LT(path.size(), 6u);
        for (const int reason : kReasons) {
          const auto& [method, preconditioner] = path.back();
          const Suggestion next =
              first_suggestion(advice({.reason = reason,
                                       .method = method,
                                       .preconditioner = AnyPreconditioner(preconditioner),
                                       .names_preconditioner = true},
                                      look));
          ASSERT_FALSE(next.method.empty() && next.preconditioner.empty()) << reason;
          if (next.method == "auto") continue;
          const Setting setting{next.method.empty() ? method : next.method,
                                next.preconditioner.empty() ? preconditioner : next.preconditioner};
          ASSERT_EQ(std::ranges::find(path, setting), path.end())
              << setting.method << " with " << setting.preconditioner << " again";
          std::vector<Setting> longer = path;
          longer.push_back(setting);
          follow(look, std::move(longer));
        }
      };
  for (const bool symmetric : {true, false})
    for (const Signs signs : {Signs::one, Signs::both, Signs::zero})
      for (const char* method : {"cg", "minres", "bicgstab", "bicgstab2", "gmres", "bcgs"})
        for (const char* preconditioner : {"none", "jacobi", "multigrid", "ilu", "icc"})
          follow(looks(symmetric, signs), {{method, preconditioner}});
}

// A matrix by its nonzeros, and what the line of a run by it must say.
struct Said {
  const char *words, *solver;
  std::vector<std::vector<double>> matrix;
  std::vector<double> b;
  int least_ranks = 1;
};

// The path of 6 rows twice, side by side: a null space of dimension two.
std::vector<std::vector<double>> two_paths(double scale) {
  constexpr std::size_t n = 24;
  std::vector<std::vector<double>> a(n, std::vector<double>(n, 0.0));
  const auto of = [&](std::size_t i) { return std::pow(scale, i % 5); };
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (i + 1 == n / 2) continue;
    a[i][i] += of(i) * of(i);
    a[i + 1][i + 1] += of(i + 1) * of(i + 1);
    a[i][i + 1] = a[i + 1][i] = -of(i) * of(i + 1);
  }
  return a;
}

std::vector<std::vector<double>> without_diagonal_entry(std::size_t row) {
  std::vector<std::vector<double>> a(24, std::vector<double>(24, 0.0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i][i] = 4;
    if (i + 1 < a.size()) a[i][i + 1] = a[i + 1][i] = -1;
  }
  for (std::vector<double>& of : a) of[row] = 0;
  a[row].assign(24, 0.0);
  a[row][0] = a[0][row] = 1;
  return a;
}

SmallMatrix small_matrix(const std::vector<std::vector<double>>& rows) {
  SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {24, 24}};
  for (const std::vector<double>& of : rows) {
    for (std::size_t j = 0; j < of.size(); ++j)
      if (of[j] != 0) {
        a.indices.push_back(static_cast<std::int64_t>(j));
        a.data.push_back(of[j]);
      }
    a.indptr.push_back(std::ssize(a.indices));
  }
  return a;
}

TEST(Advice, StandsInTheLineOfTheRun) {
  std::vector<double> up_and_down(24, 1.0), alternating(24, 1.0);
  for (std::size_t i = 12; i < 24; ++i) up_and_down[i] = -1;
  for (std::size_t i = 0; i < 24; i += 2) alternating[i] = -2;
  std::vector<std::vector<double>> singular_block = without_diagonal_entry(20);
  singular_block[20][20] = singular_block[21][21] = singular_block[20][21] =
      singular_block[21][20] = 1;
  singular_block[21][22] = singular_block[22][21] = 0;
  std::vector<std::vector<double>> wild = without_diagonal_entry(5);
  wild[5][5] = -4;
  const std::vector<Said> table = {
      {"has a zero on the diagonal, by which jacobi would divide; use method auto with "
       "preconditioner "
       "auto, or preconditioner none",
       "method: minres, preconditioner: jacobi", without_diagonal_entry(20), alternating},
      {"sub_pc_factor_shift_type: nonzero} replaces it; try method auto with preconditioner auto, "
       "or "
       "method direct",
       "method: bicgstab, preconditioner: bjacobi", without_diagonal_entry(20), alternating, 2},
      {"is singular; use preconditioner jacobi, or none where",
       "method: bicgstab, preconditioner: trireme_block_jacobi", singular_block, alternating},
      {"; the diagonal has no one sign, so that the matrix is indefinite; try method minres, or ",
       "method: cg, preconditioner: jacobi", wild, alternating},
      {"maps a vector that is constant on each of 2 parts of the rows to zero",
       "method: cg, preconditioner: jacobi", two_paths(1), up_and_down},
      {"maps a vector that is not constant to zero", "method: cg, preconditioner: jacobi",
       two_paths(3), up_and_down},
      {"maps a vector that is not constant to zero", "method: bicgstab, preconditioner: jacobi",
       two_paths(3), up_and_down},
      {"maps a vector that is constant on each of 2 parts of the rows to zero",
       "method: minres, preconditioner: none, max_iterations: 30", two_paths(1), up_and_down},
  };
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const Said& row : table) {
    if (ranks < row.least_ranks) continue;
    SCOPED_TRACE(row.solver);
    const SmallMatrix a = small_matrix(row.matrix);
    SharedFile file("advised.h5");
    file.write([&](hdf5::File& out) {
      a.write(out);
      put(out, "b", row.b);
    });
    const std::string problem = "file: " + file.path().string() + ", rhs: /b";
    const std::string solver =
        fmt::format("device: cpu\nsolver: {{norm: residual, {}}}", row.solver);
    std::string line;
    try {
      line = solve(problem, solver).runs[0].reason;
    } catch (const Error& error) {
      line = error.what();
    }
    EXPECT_NE(line.find(row.words), std::string::npos) << line;
  }
}

// Runs that fail, by what a user has named; the first suggestion is followed until a run solves.
TEST(Advice, LeadsToASolution) {
  const std::vector<std::vector<double>> zeros(24, std::vector<double>(24, 0.0));
  std::vector<std::vector<double>> wild = without_diagonal_entry(5), stiff = wild;
  wild[5][5] = -4;
  stiff[5][5] = 1e4;
  std::vector<std::vector<double>> downwind = zeros, zero_pivot = zeros;
  for (std::size_t i = 0; i < 24; ++i) {
    downwind[i][i] = 1;
    zero_pivot[i][i] = i == 10 || i == 11 ? 1 : 4;
    if (i == 0) continue;
    downwind[i][i - 1] = -1.5;
    zero_pivot[i][i - 1] = zero_pivot[i - 1][i] = i == 11 ? 1 : i == 10 ? 0 : -1;
  }
  struct Start {
    const char *method, *preconditioner, *more;
    std::vector<std::vector<double>> matrix;
  };
  const std::vector<Start> table = {
      {"cg", "jacobi", "max_iterations: 5", stiff},
      {"cg", "jacobi", "max_iterations: 100", wild},
      {"cg", "none", "max_iterations: 10", downwind},
      {"minres", "jacobi", "max_iterations: 100", without_diagonal_entry(20)},
      {"gmres", "bjacobi", "max_iterations: 100", zero_pivot},
  };
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1) GTEST_SKIP() << "on one rank";
  for (const Start& start : table) {
    const SmallMatrix a = small_matrix(start.matrix);
    SharedFile file("led.h5");
    file.write([&](hdf5::File& out) {
      a.write(out);
      put(out, "b", std::vector<double>(24, 1.0));
    });
    Suggestion now{start.method, start.preconditioner};
    std::vector<std::string> lines;
    bool solved = false;
    while (!solved && lines.size() < 4) {
      std::string line;
      try {
        const RunOutcome run =
            solve("file: " + file.path().string() + ", rhs: /b",
                  fmt::format("device: cpu\nsolver: {{method: {}, preconditioner: {}, {}}}",
                              now.method, now.preconditioner, start.more))
                .runs[0];
        line = run.reason;
        solved = run.converged;
      } catch (const Error& error) {
        line = error.what();
      }
      lines.push_back(line);
      const Suggestion next = first_suggestion(line);
      if (!next.method.empty()) now.method = next.method;
      if (!next.preconditioner.empty()) now.preconditioner = next.preconditioner;
    }
    EXPECT_TRUE(solved) << fmt::format("{}", fmt::join(lines, "\n"));
    EXPECT_GT(lines.size(), 1u) << "the first run solves";
  }
}

TEST(RunCase, DivergenceIsNotConverged) {
  // Without a preconditioner I - A has eigenvalues down to -7; a bound below 1 is met at once.
  struct Diverging {
    const char *solver, *bound;
  };
  for (const auto& [solver, bound] :
       {Diverging{"engine: petsc, method: richardson, preconditioner: none", "1e5"},
        Diverging{"engine: petsc, method: cg", "0.5"},
        Diverging{"engine: resident, method: cg", "0.5"},
        Diverging{"engine: resident, method: bicgstab", "0.5"}}) {
    SCOPED_TRACE(solver);
    const PetscOption divtol("-ksp_divtol", bound);
    const RunOutcome run =
        solve("generate: poisson2d, n: 12", fmt::format("device: cpu\nsolver: {{{}}}", solver))
            .runs[0];
    EXPECT_EQ(run.exit_code, ExitCode::not_converged);
    EXPECT_FALSE(run.converged);
    EXPECT_EQ(run.petsc_reason, -4);
    EXPECT_NE(run.reason.find("DIVERGED_DTOL"), std::string::npos) << run.reason;
    EXPECT_LE(run.relative_residual, 1 + 1e-12) << "the guess 0 is kept where it is better";
    const bool grew = std::string_view(bound) == "1e5";
    EXPECT_EQ(run.reason.find("; x is the initial guess") != std::string::npos, grew) << run.reason;
  }
}

// The Laplacian of a path without boundary conditions, whose range is the vectors that add up to
// zero.
RunOutcome solved_without_boundary(double last, const std::string& solver) {
  constexpr std::int64_t rows = 50;
  SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j) {
      a.indices.push_back(j);
      a.data.push_back(i != j ? -1 : i == 0 || i == rows - 1 ? 1 : 2);
    }
    a.indptr.push_back(std::ssize(a.indices));
  }
  SharedFile file("no-boundary.h5");
  file.write([&](hdf5::File& out) {
    a.write(out);
    std::vector<double> b(rows, 0.0);
    b.front() = 1e-3;
    b.back() = last;
    out.create_dataset<double>("b", {rows}).write(0, rows, b.data());
  });
  return solve("file: " + file.path().string() + ", rhs: /b",
               fmt::format("device: cpu\nsolver: {{max_iterations: 200, {}}}", solver))
      .runs[0];
}

TEST(RunCase, ARightHandSideOutsideOfTheRangeOfASingularMatrixIsNamed) {
  for (const char* solver : {"preconditioner: multigrid", "preconditioner: jacobi",
                             "engine: petsc, preconditioner: jacobi"}) {
    SCOPED_TRACE(solver);
    const RunOutcome outside = solved_without_boundary(1e-3, solver);
    EXPECT_FALSE(outside.converged);
    EXPECT_NE(outside.reason.find("no x has a residual below 0.2 of ||b||"), std::string::npos)
        << outside.reason;
    EXPECT_TRUE(outside.reason.ends_with(")")) << outside.reason;
    const RunOutcome inside = solved_without_boundary(-1e-3, solver);
    EXPECT_EQ(inside.reason.find("singular"), std::string::npos) << inside.reason;
  }
  const RunOutcome regular =
      solve("generate: poisson2d, n: 12", "device: cpu\nsolver: {method: cg, max_iterations: 1}")
          .runs[0];
  EXPECT_FALSE(regular.converged);
  EXPECT_EQ(regular.reason.find("singular"), std::string::npos) << regular.reason;
}

// A huge row, which Jacobi solves, and two rows of usual size, of which it leaves a millionth.
TEST(RunCase, AMillionthOfUsualRowsIsNotHiddenByAHugeOne) {
  const SmallMatrix a{.indptr = {0, 1, 3, 5},
                      .indices = {0, 1, 2, 1, 2},
                      .data = {1e9, 1, 1e-6, 1e-6, 1},
                      .shape = {3, 3}};
  SharedFile file("rows.h5");
  file.write([&](hdf5::File& out) {
    a.write(out);
    put(out, "b", std::vector<double>{1e9, 1, 1});
  });
  const std::string problem = "file: " + file.path().string();
  const std::string solver = "device: cpu\nsolver: {method: preonly, preconditioner: jacobi";
  const RunOutcome run = solve(problem, solver + "}").runs[0];
  EXPECT_EQ(run.exit_code, ExitCode::not_converged);
  EXPECT_NE(run.reason.find("with each row divided by its size"), std::string::npos) << run.reason;
  EXPECT_LT(run.relative_residual, 1e-14);
  EXPECT_TRUE(solve(problem, solver + ", norm: residual}").runs[0].converged);
}

// Of two right-hand sides, one of which is solved by x = 0, and one whose solution overflows.
TEST(RunCase, AnXThatOverflowsIsNotKept) {
  constexpr std::int64_t rows = 50;
  SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j) {
      a.indices.push_back(j);
      a.data.push_back(i == j ? 4 : -1);
    }
    a.indptr.push_back(std::ssize(a.indices));
  }
  for (const bool first : {true, false}) {
    SharedFile file("nan.h5");
    file.write([&](hdf5::File& out) {
      a.write(out);
      std::vector<double> columns;
      for (std::int64_t i = 0; i < rows; ++i)
        columns.insert(columns.end(), {first ? 1.0 : 0.0, first ? 0.0 : 1.0});
      out.create_dataset<double>("b", {rows, 2}).write(0, rows, columns.data());
    });
    const PetscOption untested("-ksp_norm_type", "none");
    const RunOutcome run = solve("file: " + file.path().string() + ", rhs: /b",
                                 "device: cpu\nkernel: csr\nsolver: {method: richardson, "
                                 "preconditioner: none, max_iterations: 3000}")
                               .runs[0];
    EXPECT_FALSE(run.converged);
    EXPECT_EQ(run.relative_residual, 1) << run.reason;  // of x = 0
  }
}

}  // namespace
}  // namespace trireme
