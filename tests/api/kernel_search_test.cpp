// SPDX-License-Identifier: BSD-3-Clause
// What a Solver tries between two solves, with operators whose times are given.
#include "api/kernel_search.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/caller_matrix.hpp"
#include "base/error.hpp"
#include "support/limited_memory.hpp"
#include "support/watched.hpp"
#include "systems.hpp"

namespace trireme::api {
namespace {

class TimedOperator final : public Operator {
 public:
  TimedOperator(std::shared_ptr<DistributedMatrix> matrix, const std::string& kernel, double us)
      : Operator(std::move(matrix), kernel, {}), us_(us) {}
  void multiply(std::span<const double>, std::span<double>) override {}
  void multiply_exactly(std::span<const double>, std::span<double>) override {}
  void refresh_values() override {}
  double measure_product_us(int) override { return us_; }
  KernelStatistics statistics() const override { return {}; }

 private:
  double us_;
};

class SearchOfKernels : public testing::Test {
 protected:
  // One product of each kernel takes 100 us, but for those named here.
  std::map<std::string, double> us;
  std::vector<std::string> made;
  std::string fails{};

  std::shared_ptr<Operator> op(const std::string& kernel) {
    return std::make_shared<TimedOperator>(matrix_, kernel, us.contains(kernel) ? us[kernel] : 100);
  }
  // The kernel that is changed to; empty: none.
  std::string between_solves(Operator& running, std::int64_t solves_ahead) {
    const auto found =
        search.between_solves(running, solves_ahead, [&](const KernelChoice& kernel) {
          made.push_back(kernel.name);
          if (kernel.name == fails) throw Error(ExitCode::resource, "no memory");
          return op(kernel.name);
        });
    return found ? found->kernel() : "";
  }

 private:
  const test::System system_ = test::grid(60);
  const Ranks ranks_{nullptr};
  std::shared_ptr<DistributedMatrix> matrix_ = copied_square(ranks_, system_.arrays());

 protected:
  KernelSearch search{ranks_, matrix_, {.name = "albus"}};
};

TEST_F(SearchOfKernels, TriesNothingBeforeTheFirstSolveNorForFewProducts) {
  const auto running = op("albus");
  EXPECT_EQ(between_solves(*running, 1'000'000), "");
  search.solve_ends(3, 1e-3);
  EXPECT_EQ(between_solves(*running, 5), "");
  EXPECT_TRUE(made.empty());
  EXPECT_TRUE(search.trials().empty());
}

TEST_F(SearchOfKernels, ChangesToTheFastestOnceAndKeepsIt) {
  us["sell"] = 40;
  const auto running = op("albus");
  search.solve_ends(300, 0.03);
  EXPECT_EQ(between_solves(*running, 1'000'000), "sell");
  EXPECT_EQ(search.choice().name, "sell");
  const auto sell = op("sell");
  const auto tried = made;
  EXPECT_EQ(between_solves(*sell, 1'000'000), "");
  EXPECT_EQ(made, tried);

  const auto trials = search.trials();
  ASSERT_FALSE(trials.empty());
  EXPECT_EQ(trials[0].kernel, "sell");
  EXPECT_EQ(trials[0].product_microseconds, 40);
  EXPECT_EQ(trials[0].verdict, "it has the fastest product");
  for (std::size_t k = 1; k < trials.size(); ++k) {
    EXPECT_NE(trials[k].kernel, "sell");
    if (trials[k].product_microseconds > 0) {
      EXPECT_EQ(trials[k].verdict, "150 % slower");
    }
  }
}

TEST_F(SearchOfKernels, KeepsTheKernelThatNoOtherBeats) {
  const auto running = op("albus");
  search.solve_ends(300, 0.03);
  EXPECT_EQ(between_solves(*running, 1'000'000), "");
  EXPECT_FALSE(made.empty());
  EXPECT_EQ(search.choice().name, "albus");
  EXPECT_EQ(search.trials()[0].kernel, "albus");
}

TEST_F(SearchOfKernels, GoesOnWhereAKernelFindsNoMemory) {
  us["sell"] = 40;
  fails = "sell";
  const auto running = op("albus");
  search.solve_ends(300, 0.03);
  EXPECT_EQ(between_solves(*running, 1'000'000), "");
  bool said = false;
  for (const KernelTrial& trial : search.trials())
    said = said || (trial.kernel == "sell" && trial.verdict == "no memory");
  EXPECT_TRUE(said);
}

TEST_F(SearchOfKernels, TriesNothingWhereTheMemoryMayNotSuffice) {
  if (test::watched()) GTEST_SKIP() << "the address sanitizer takes all address space";
  const auto running = op("albus");
  search.solve_ends(300, 0.03);
  {
    const test::LimitedMemory limit(1 << 16);
    EXPECT_EQ(between_solves(*running, 1'000'000), "");
  }
  EXPECT_TRUE(made.empty());
  EXPECT_EQ(between_solves(*running, 1'000'000), "");
  EXPECT_TRUE(made.empty()) << "it was refused before";
}

// As many solves as there were are expected to follow.
TEST_F(SearchOfKernels, LearnsFromSolvesThatNobodyAnnounced) {
  const auto running = op("albus");
  for (int k = 0; k < 10'000; ++k) search.solve_ends(100, 0.03);
  between_solves(*running, 1);
  EXPECT_FALSE(made.empty());
}

TEST_F(SearchOfKernels, TakesASmallPartOfTheTimeWhereNobodyAnnouncedSolves) {
  const auto running = op("albus");
  for (int k = 0; k < 10'000; ++k) search.solve_ends(300, 1e-7);
  EXPECT_EQ(between_solves(*running, 1), "");
  EXPECT_TRUE(made.empty());
  between_solves(*running, 10'000);
  EXPECT_FALSE(made.empty());
}

}  // namespace
}  // namespace trireme::api
