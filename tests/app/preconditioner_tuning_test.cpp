// SPDX-License-Identifier: BSD-3-Clause
// `preconditioner: auto` changes to multigrid where that pays, and stays with Jacobi elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/run_kernel.hpp"
#include "app/solves/preconditioner_tuning.hpp"
#include "app/solves/steps.hpp"
#include "io/hdf5.hpp"
#include "io/problem.hpp"
#include "io/problem_file.hpp"
#include "multigrid/store/hierarchy_entry.hpp"
#include "solved_cases.hpp"
#include "support/cg_unless_named.hpp"

namespace trireme {
namespace {

using test::case_of;

using Clock = std::function<double(const AnyPreconditioner&)>;

// One run in which iterations take what `clock` says, and a product `product` seconds, from which
// the set-up is predicted.
RunOutcome run_by(const Case& c, const Clock& clock, double product,
                  const IterationCallback& on_iteration = {},
                  const multigrid::HierarchyStore& store = {}) {
  Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
  const auto matrix = distribute(MPI_COMM_WORLD, std::move(problem.matrix), problem.row_starts);
  std::optional<Steps> steps;
  if (!c.problem.steps.empty()) {
    steps.emplace(MPI_COMM_WORLD, c.problem, problem, matrix);
    steps->begin();
  }
  PlainProduct plain(matrix);
  const SolveContext context{.spec = c,
                             .problem = problem,
                             .matrix = matrix,
                             .plain = plain,
                             .checkpoints = std::nullopt,
                             .steps = steps ? &*steps : nullptr,
                             .hierarchies = store,
                             .preconditioner_clock = {.iteration_seconds = clock,
                                                      .product_seconds = [=] { return product; }}};
  return run_kernel(context, {.kernel = {.name = "csr"}}, on_iteration).outcome;
}

// An iteration of Jacobi takes 1 ms, one of multigrid `multigrid` seconds, one of any other 50 ms.
Clock iterations_of(double multigrid) {
  return [=](const AnyPreconditioner& preconditioner) {
    if (preconditioner.is_multigrid()) return multigrid;
    return preconditioner.is(solvers::PreconditionerKind::jacobi) ? 1e-3 : 50e-3;
  };
}

RunOutcome run_with(const Case& c, double multigrid, double product) {
  return run_by(c, iterations_of(multigrid), product);
}

const PreconditionerCandidate& candidate(const RunOutcome& run, const std::string& name) {
  return *std::ranges::find(run.preconditioner_choice->candidates, name,
                            &PreconditionerCandidate::name);
}

Case automatic(const std::string& problem, const std::string& solver = "") {
  return case_of(problem, "solver: {preconditioner: auto" + solver + "}\ndevice: cpu\nrepeat: 4\n");
}

const std::string kPoisson = "generate: poisson2d, n: 60, rhs: random";

TEST(PreconditionerTuning, ACheapMultigridTakesOverWithinTheFirstSolve) {
  const RunOutcome run = run_with(automatic(kPoisson), 1e-3, 1e-6);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_LE(run.relative_residual, 1.02e-8);
  EXPECT_EQ(run.preconditioner, "multigrid");
  ASSERT_TRUE(run.preconditioner_choice);
  const PreconditionerChoice& choice = *run.preconditioner_choice;
  EXPECT_EQ(choice.began_with, "jacobi");
  EXPECT_EQ(choice.solves, 4);
  ASSERT_TRUE(choice.changed_at);
  EXPECT_GE(*choice.changed_at, 8);
  EXPECT_EQ(choice.candidates[0].name, "multigrid");
  EXPECT_TRUE(choice.candidates[0].measured);
  EXPECT_TRUE(run.multigrid);
  EXPECT_LE(run.iterations, 40) << "the last solve is by multigrid alone";
}

TEST(PreconditionerTuning, ADearMultigridIsNotTried) {
  const RunOutcome run = run_with(automatic(kPoisson), 1, 1e-3);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_EQ(run.preconditioner, "jacobi");
  ASSERT_TRUE(run.preconditioner_choice);
  EXPECT_EQ(run.preconditioner_choice->candidates[0].name, "jacobi");
  EXPECT_FALSE(run.preconditioner_choice->changed_at);
  EXPECT_FALSE(run.multigrid);
  for (const PreconditionerCandidate& c : run.preconditioner_choice->candidates)
    EXPECT_FALSE(c.verdict.empty()) << c.name;
}

TEST(PreconditionerTuning, FactorsAreForTheMethodsThatTheySuit) {
  const RunOutcome definite = run_with(automatic(kPoisson), 1, 1e-3);
  EXPECT_EQ(candidate(definite, "ilu").verdict, "not tried: cg needs a definite preconditioner");
  EXPECT_NE(candidate(definite, "icc").verdict.find("a solve would take"), std::string::npos);
  const RunOutcome any = run_with(automatic(kPoisson, ", method: bicgstab"), 1, 1e-3);
  EXPECT_NE(candidate(any, "ilu").verdict.find("a solve would take"), std::string::npos);
  EXPECT_NE(candidate(any, "icc").verdict.find("need not be symmetric"), std::string::npos);
}

// Has a hierarchy of every matrix until it is asked for it.
class Promise final : public multigrid::HierarchyEntry {
 public:
  explicit Promise(std::int64_t size) : size_(size) {}
  std::int64_t size() override { return size_; }
  std::optional<Array<std::byte>> find() override { return std::nullopt; }
  bool keep(std::span<const std::byte>, double) override { return false; }
  void reject(std::string_view) override {}

 private:
  std::int64_t size_;
};

multigrid::HierarchyStore promised(std::int64_t bytes) {
  return [=](const auto&...) { return std::make_unique<Promise>(bytes); };
}

Case one_solve() {
  Case c = automatic(kPoisson);
  c.repeat = 1;
  return c;
}

// Incomplete factors take as long as they are expected to.
double of_factors(const AnyPreconditioner& preconditioner) {
  return preconditioner.is(solvers::PreconditionerKind::icc) ? 2e-3
                                                             : iterations_of(1e-3)(preconditioner);
}

bool names_the_cache(const RunOutcome& run) {
  return candidate(run, "multigrid").verdict.ends_with("; the cache has its hierarchy");
}

TEST(PreconditionerTuning, AHierarchyInTheStoreMakesMultigridWorthASingleSolve) {
  const auto run = [](std::int64_t bytes) {
    return run_by(one_solve(), of_factors, 0.3e-3, {}, promised(bytes));
  };
  const RunOutcome without = run(0), remark = run(24 * size_of(MPI_COMM_WORLD)),
                   with = run(1'000'000);
  EXPECT_NE(without.preconditioner, "multigrid");
  EXPECT_FALSE(names_the_cache(without));
  EXPECT_NE(remark.preconditioner, "multigrid") << "a remark that reading was slower";
  EXPECT_FALSE(names_the_cache(remark));
  EXPECT_EQ(with.preconditioner, "multigrid");
  EXPECT_TRUE(names_the_cache(with));
  EXPECT_TRUE(with.converged);
}

TEST(PreconditionerTuning, AHierarchyInTheStoreMakesTheChangeEarlier) {
  const auto run = [](std::int64_t bytes) {
    return run_by(one_solve(), of_factors, 0.05e-3, {}, promised(bytes));
  };
  const RunOutcome without = run(0), with = run(1'000'000);
  ASSERT_TRUE(without.preconditioner_choice->changed_at);
  ASSERT_TRUE(with.preconditioner_choice->changed_at);
  EXPECT_LE(*with.preconditioner_choice->changed_at, 10) << "60 products and 1 ms";
  EXPECT_EQ(with.preconditioner, "multigrid");
  EXPECT_GE(*without.preconditioner_choice->changed_at, 12) << "130 products of icc, 500 of this";
}

TEST(PreconditionerTuning, AMultigridThatDisappointsIsLeft) {
  const RunOutcome run = run_with(automatic(kPoisson), 1, 1e-6);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_EQ(run.preconditioner, "jacobi");
  EXPECT_LE(run.relative_residual, 1.02e-8);
}

Case many_sides(const std::string& problem, const std::string& of_solver = "") {
  return case_of(problem + ", rhs_count: 13",
                 "solver: {preconditioner: auto, block: 4" + of_solver + "}\ndevice: cpu\n");
}

TEST(PreconditionerTuning, BlocksGoOnWithWhatTheFirstSolveHasShown) {
  const RunOutcome run = run_with(many_sides(kPoisson), 1e-3, 1e-6);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_EQ(run.preconditioner, "multigrid");
  EXPECT_EQ(run.block, 4);
  EXPECT_EQ(run.preconditioner_choice->solves, 7) << "twelve right-hand sides in blocks count half";
  ASSERT_EQ(run.columns.size(), 13u);
  for (std::size_t k = 0; k < run.columns.size(); ++k) {
    EXPECT_TRUE(run.columns[k].converged) << k;
    EXPECT_LE(run.columns[k].relative_residual, 1.02e-8) << k;
    if (k > 0) {
      EXPECT_LE(run.columns[k].iterations, 20) << k;
    }
  }
}

TEST(PreconditionerTuning, BlocksStayWithJacobiWhereMultigridIsDear) {
  const RunOutcome run = run_with(many_sides(kPoisson), 1, 1e-3);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_EQ(run.preconditioner, "jacobi");
  EXPECT_EQ(run.block, 4);
  EXPECT_FALSE(run.multigrid);
}

// Multigrid seems cheap in the first solve.
TEST(PreconditionerTuning, AMultigridThatDisappointsInABlockIsLeft) {
  int begun = 0;
  const Clock clock = [&](const AnyPreconditioner& preconditioner) {
    return iterations_of(begun > 1 ? 1 : 1e-3)(preconditioner);
  };
  const RunOutcome run =
      run_by(many_sides(kPoisson), clock, 1e-6, [&](std::int64_t iteration, double) {
        if (iteration == 0) ++begun;
      });
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_EQ(candidate(run, "multigrid").verdict.substr(0, 5), "left:");
  ASSERT_EQ(run.columns.size(), 13u);
  EXPECT_LE(run.columns[1].iterations, 20) << "the first block is by multigrid";
  EXPECT_GE(run.columns[5].iterations, 60) << "the second one by Jacobi";
}

// The tuning of a solver whose solves the tests make up.
class MadeUpSolves : public testing::Test {
 protected:
  void make(PreconditionerClock clock = {}) {
    const Case c = automatic("generate: poisson2d, n: 30");
    Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
    matrix_ = distribute(MPI_COMM_WORLD, std::move(problem.matrix), problem.row_starts);
    amat_ = make_amat(matrix_, {.name = "csr"}, nullptr);
    solver_.emplace(c.solver, amat_->mat(), amat_->assembled(), matrix_);
    tuning_.emplace(*matrix_, *amat_, *solver_, std::move(clock));
  }
  static KspResult result(std::int64_t iterations, KSPConvergedReason reason) {
    KspResult made;
    made.iterations = iterations;
    made.seconds = 1e-3;
    made.verdict.converged = static_cast<int>(reason) > 0;
    made.verdict.reason = reason;
    return made;
  }

  std::shared_ptr<DistributedMatrix> matrix_;
  std::unique_ptr<Amat> amat_;
  std::optional<KspSolver> solver_;
  std::optional<PreconditionerTuning> tuning_;
};

// Every preconditioner of the list is a candidate, at the cost that its entry states.
TEST_F(MadeUpSolves, TheListSaysWhatACandidateCosts) {
  constexpr double kIteration = 1, kProduct = 0.25, kPass = kIteration - kProduct;
  make({.iteration_seconds = [](const auto&) { return kIteration; },
        .product_seconds = [] { return kProduct; }});
  tuning_->solve_begins(0);
  for (const double norm : {1.0, 0.1}) tuning_->iteration(norm, 1e-8);
  tuning_->solve_ends(result(1, KSP_CONVERGED_RTOL));
  const PreconditionerChoice choice = tuning_->outcome();
  std::size_t expected = 0;
  solvers::for_each_preconditioner([&](solvers::PreconditionerKind kind, auto m) {
    const auto& cost = decltype(m)::type::info.expected;
    const std::string name(solvers::name_of(kind));
    const auto found = std::ranges::find(choice.candidates, name, &PreconditionerCandidate::name);
    ++expected;
    ASSERT_NE(found, choice.candidates.end()) << name;
    if (!cost) return;
    const auto seconds = [](const solvers::ExpectedWork& work) {
      return work.seconds + work.products * kProduct + work.passes * kPass;
    };
    EXPECT_NEAR(found->set_up_seconds.value_or(-1), seconds(cost->set_up), 1e-12) << name;
    EXPECT_NEAR(found->iteration_us.value_or(-1), 1e6 * (kIteration + seconds(cost->iteration)),
                1e-6)
        << name;
  });
  EXPECT_EQ(choice.candidates.size(), expected);
}

// A block of two columns takes as long as a solve by itself.
TEST_F(MadeUpSolves, ABlockTellsTheTimeOfASolveByItself) {
  make();
  tuning_->solve_begins(1);
  for (const double norm : {1.0, 0.1}) tuning_->iteration(norm, 1e-8);
  tuning_->solve_ends(result(1, KSP_CONVERGED_RTOL));
  tuning_->solve_begins(0);
  const KspResult column = result(10, KSP_CONVERGED_RTOL);
  tuning_->block_ends(std::vector<KspResult>{column, column}, 1);
  EXPECT_NEAR(tuning_->outcome().candidates[0].iteration_us.value_or(0), 1e5, 1e-6);
}

// The columns of a block cannot go on.
TEST_F(MadeUpSolves, ABlockAtTheIterationLimitIsNotSolvedAgainAndOneThatBreaksDownIs) {
  make({.iteration_seconds = iterations_of(1e-3), .product_seconds = [] { return 1e-9; }});
  tuning_->solve_begins(3);
  for (int k = 0; k < 20; ++k) tuning_->iteration(std::pow(0.9, k), 1e-8);
  ASSERT_TRUE(tuning_->interlude().due());
  ASSERT_EQ(tuning_->interlude().run(), After::new_space);
  ASSERT_EQ(tuning_->running().name(), "multigrid");
  const KspResult good = result(10, KSP_CONVERGED_RTOL), at_limit = result(9, KSP_DIVERGED_ITS);
  EXPECT_FALSE(tuning_->falls_back(std::vector<KspResult>{good, at_limit}));
  KspResult stopped = result(9, KSP_DIVERGED_BREAKDOWN);
  stopped.facts.stopped = true;
  EXPECT_FALSE(tuning_->falls_back(std::vector<KspResult>{good, stopped}));
  KspResult goes_on = result(9, KSP_DIVERGED_DTOL);
  goes_on.can_go_on = true;
  EXPECT_FALSE(tuning_->falls_back(std::vector<KspResult>{goes_on}));
  EXPECT_EQ(tuning_->running().name(), "multigrid");
  const KspResult failed = result(3, KSP_DIVERGED_INDEFINITE_MAT);
  EXPECT_TRUE(tuning_->falls_back(std::vector<KspResult>{good, failed}));
  EXPECT_EQ(tuning_->running().name(), "jacobi");
  EXPECT_FALSE(tuning_->falls_back(std::vector<KspResult>{failed})) << "it is the first one";
}

// A chain of n rows and a part of two rows, [1 2; 2 1], which is indefinite. The first right-hand
// side does not touch that part.
TEST(PreconditionerTuning, ABlockThatFailsIsRepeatedWithJacobi) {
  constexpr std::int64_t kChain = 900, n = kChain + 2;
  test::SharedFile file("indefinite.h5");
  file.write([&](hdf5::File& out) {
    test::SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {n, n}};
    const auto entry = [&](std::int64_t column, double value) {
      a.indices.push_back(column);
      a.data.push_back(value);
    };
    for (std::int64_t row = 0; row < n; ++row) {
      if (row < kChain) {
        if (row > 0) entry(row - 1, -1);
        entry(row, 2);
        if (row + 1 < kChain) entry(row + 1, -1);
      } else {
        entry(kChain, row == kChain ? 1 : 2);
        entry(kChain + 1, row == kChain ? 2 : 1);
      }
      a.indptr.push_back(std::ssize(a.indices));
    }
    a.write(out);
    std::vector<double> b;
    for (std::int64_t row = 0; row < n; ++row)
      for (int k = 0; k < 5; ++k)
        b.push_back(row == kChain  ? 100 * k
                    : row > kChain ? -100 * k
                                   : std::cos(1.7 * (k + 1.0) * static_cast<double>(row * row)));
    out.create_dataset<double>("b", {n, 5}).write(0, n, b.data());
  });
  Case c = case_of("generate: poisson2d, n: 3",
                   "solver: {preconditioner: auto, block: 4}\ndevice: cpu\n");
  SystemFile system;
  system.file = file.path();
  system.matrix = "/A";
  c.problem.source = system;
  c.problem.rhs = Dataset{"/b"};
  const RunOutcome run = run_with(c, 1e-3, 1e-6);
  ASSERT_TRUE(run.preconditioner_choice);
  EXPECT_TRUE(run.columns.at(0).converged) << run.reason;
  EXPECT_EQ(run.exit_code, ExitCode::breakdown) << run.reason;
  EXPECT_EQ(run.preconditioner, "jacobi");
  EXPECT_EQ(candidate(run, "multigrid").verdict.substr(0, 5), "left:");
}

// Steps of a Laplacian whose rows and columns are scaled by factors from 10^-spread to 10^spread,
// which vary smoothly over the grid. Each step has the right-hand side of the solution 1.
class TunedSequence : public testing::Test {
 protected:
  RunOutcome run(const std::vector<double>& spread, const Clock& clock, double product,
                 const std::string& of_solver = "", const multigrid::HierarchyStore& store = {}) {
    constexpr std::int64_t kSide = 40, n = kSide * kSide;
    file_.write([&](hdf5::File& out) {
      test::SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {n, n}};
      std::vector<std::int64_t> rows;
      for (std::int64_t row = 0; row < n; ++row) {
        for (const std::int64_t to : {row - kSide, row - 1, row, row + 1, row + kSide}) {
          const bool near = to == row || std::abs(to - row) == kSide || to / kSide == row / kSide;
          if (to < 0 || to >= n || !near) continue;
          rows.push_back(row);
          a.indices.push_back(to);
          a.data.push_back(to == row ? 4 : -1);
        }
        a.indptr.push_back(std::ssize(a.indices));
      }
      a.write(out);
      for (std::size_t k = 0; k < spread.size(); ++k) {
        const auto factor = [&](std::int64_t at) {
          const auto column = static_cast<double>(at % kSide);
          return std::pow(10.0, spread[k] * std::sin(6 * column / kSide));
        };
        std::vector<double> values;
        for (std::size_t e = 0; e < a.data.size(); ++e)
          values.push_back(a.data[e] * factor(rows[e]) * factor(a.indices[e]));
        test::put(out, fmt::format("values/{}", k), values);
      }
    });
    return run_by(
        test::parse_with_cg(
            fmt::format("problem: {{file: {}, rhs: from-ones, steps: {{count: {}, values: "
                        "'/values/{{}}'}}}}\nsolver: {{preconditioner: auto, guess: zero, "
                        "norm: residual{}}}"
                        "\ndevice: cpu\nreport: {{solution: false}}\n",
                        file_.path().string(), spread.size(), of_solver),
            "test.yaml"),
        clock, product, {}, store);
  }
  void expect_solved(const RunOutcome& run, std::size_t steps) {
    EXPECT_TRUE(run.converged) << run.reason;
    ASSERT_EQ(run.steps.size(), steps);
    for (const StepOutcome& step : run.steps) {
      EXPECT_TRUE(step.converged) << step.name;
      EXPECT_LE(step.relative_residual, 1.02e-8) << step.name;
    }
  }
  test::SharedFile file_{"sequence.h5"};
};

TEST_F(TunedSequence, MultigridTakesOverAndServesTheLaterSteps) {
  const RunOutcome run = this->run({0, 0, 0, 0}, iterations_of(1e-3), 1e-6);
  expect_solved(run, 4);
  EXPECT_EQ(run.preconditioner, "multigrid");
  EXPECT_EQ(run.preconditioner_choice->solves, 4);
  EXPECT_TRUE(run.preconditioner_choice->changed_at);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_LE(run.steps[k].iterations, 20) << k;
}

TEST_F(TunedSequence, JacobiServesWhereMultigridIsDear) {
  const RunOutcome run = this->run({0, 0, 0, 0}, iterations_of(1), 1e-3);
  expect_solved(run, 4);
  EXPECT_EQ(run.preconditioner, "jacobi");
  EXPECT_FALSE(run.multigrid);
}

// Jacobi's iterations do not depend on the scaling, and those of a hierarchy of other values do.
TEST_F(TunedSequence, AMultigridOfOldValuesIsRenewedBeforeItIsLeft) {
  const RunOutcome run = this->run({0, 0, 1, 1}, iterations_of(2e-3), 1e-6);
  expect_solved(run, 4);
  EXPECT_EQ(run.preconditioner, "multigrid") << candidate(run, "multigrid").verdict;
  EXPECT_FALSE(run.steps[1].renewed);
  EXPECT_TRUE(run.steps[2].renewed);
}

TEST_F(TunedSequence, AMultigridThatMayNotBeRenewedIsLeft) {
  const RunOutcome run = this->run({0, 0, 1, 1}, iterations_of(2e-3), 1e-6, ", renew: never");
  expect_solved(run, 4);
  EXPECT_EQ(run.preconditioner, "jacobi");
}

TEST_F(TunedSequence, AHierarchyInTheStoreIsOnlyForTheFirstValues) {
  const auto with_steps = [this](const std::vector<double>& spread) {
    return this->run(spread, iterations_of(1), 1e-3, "", promised(1'000'000));
  };
  EXPECT_TRUE(names_the_cache(with_steps({0})));
  EXPECT_FALSE(names_the_cache(with_steps({0, 1})));
}

TEST(PreconditionerTuning, ANegatedLaplacianChangesToMultigridTooAndMinresBeginsWithMagnitudes) {
  test::SharedFile file("negative.h5");
  constexpr std::int64_t kSide = 60, n = kSide * kSide;
  file.write([&](hdf5::File& out) {
    test::SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {n, n}};
    for (std::int64_t row = 0; row < n; ++row) {
      for (const std::int64_t to : {row - kSide, row - 1, row, row + 1, row + kSide}) {
        const bool near = to == row || std::abs(to - row) == kSide || to / kSide == row / kSide;
        if (to < 0 || to >= n || !near) continue;
        a.indices.push_back(to);
        a.data.push_back(to == row ? -4 : 1);
      }
      a.indptr.push_back(std::ssize(a.indices));
    }
    a.write(out);
  });
  for (const char* method : {"cg", "minres"}) {
    const RunOutcome run = run_by(
        test::parse_with_cg(
            fmt::format("problem: {{file: {}, rhs: random}}\nsolver: {{preconditioner: auto, "
                        "method: {}}}\ndevice: cpu\n",
                        file.path().string(), method),
            "test.yaml"),
        iterations_of(1e-3), 1e-6);
    EXPECT_TRUE(run.converged) << run.reason;
    EXPECT_LE(run.relative_residual, 1.02e-8);
    EXPECT_EQ(run.preconditioner, std::string(method) == "cg" ? "multigrid" : "jacobi");
  }
}

TEST(PreconditionerTuning, AMatrixThatIsNotDefiniteKeepsWhatItBeganWith) {
  const RunOutcome run =
      run_with(automatic("generate: saddle, n: 6, rhs: random", ", method: minres"), 1e-6, 1e-6);
  ASSERT_TRUE(run.preconditioner_choice);
  EXPECT_EQ(run.preconditioner, "none");
  EXPECT_TRUE(run.converged) << run.reason;
}

}  // namespace
}  // namespace trireme
