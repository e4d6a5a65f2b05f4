// SPDX-License-Identifier: BSD-3-Clause
// The time to the first iteration has parts that are no more than the whole.
#include "app/figures/start_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "app/solved_cases.hpp"

namespace trireme {
namespace {

using namespace test;

double sum_of_parts(const StartSeconds& s) {
  return s.libraries + s.device + s.read + s.check + s.split + s.upload + s.build + s.tune +
         s.setup;
}

TEST(StartClock, CountsFromTheStartOfTheProcess) {
  const double before = seconds_since_process_start();
  const StartClock clock;
  EXPECT_GE(clock.parts().libraries, before);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_GE(seconds_since_process_start(), before + 0.02);
}

TEST(StartClock, EndsWithTheFirstIteration) {
  StartClock clock;
  clock.lap(&StartSeconds::read);
  clock.iterations_begin();
  const double total = clock.parts().total;
  EXPECT_GE(total, sum_of_parts(clock.parts()));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  clock.iterations_begin();
  EXPECT_EQ(clock.parts().total, total);
}

TEST(StartClock, MovesNoMoreThanThereIs) {
  StartClock clock;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  clock.lap(&StartSeconds::read);
  const double read = clock.parts().read;
  clock.move(&StartSeconds::read, &StartSeconds::check, 1e9);
  EXPECT_EQ(clock.parts().read, 0);
  EXPECT_EQ(clock.parts().check, read);
}

// A trial within the first solve is no part of the start.
TEST(StartClock, TakesOfTheTrialWhatCameBeforeTheFirstIteration) {
  StartClock clock;
  clock.iterations_begin();
  const StartSeconds start = clock.with_first_run({.tune = 1e9});
  EXPECT_LE(sum_of_parts(start), start.total + 1e-9);
}

TEST(RunCase, SaysWhereTheTimeToTheFirstIterationWent) {
  const CaseOutcome outcome = solve("generate: poisson3d, n: 12", "kernel: csr\ndevice: cpu");
  const StartSeconds& start = outcome.start;
  EXPECT_GT(start.total, 0);
  EXPECT_GT(start.libraries, 0);
  EXPECT_GT(start.read, 0);
  EXPECT_GT(start.split, 0);
  EXPECT_EQ(start.upload, 0);
  EXPECT_EQ(start.build, outcome.runs[0].seconds.build);
  EXPECT_EQ(start.setup, outcome.runs[0].seconds.setup);
  // Build and set-up are those of the slowest rank, the rest is of rank 0.
  EXPECT_LE(sum_of_parts(start), 1.1 * start.total);
}

}  // namespace
}  // namespace trireme
