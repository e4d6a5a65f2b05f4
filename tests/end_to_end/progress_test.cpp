// SPDX-License-Identifier: BSD-3-Clause
// The progress line of solve: how often the line is written, and the estimate of the time left.
#include "solve/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

namespace trireme::solve {
namespace {

SolverSpec spec(double rtol, std::int64_t max_iterations) {
  SolverSpec solver;
  solver.rtol = rtol;
  solver.max_iterations = max_iterations;
  return solver;
}

TEST(SecondsLeft, FollowTheSlopeOfTheResidual) {
  // The residual fell by two decades in 10 s, and four decades are left.
  EXPECT_NEAR(seconds_left(10, 0, 1, 100, 1e-2, spec(1e-6, 100'000)), 20, 1e-9);
}

TEST(SecondsLeft, EndAtTheMaximumOfIterations) {
  EXPECT_NEAR(seconds_left(10, 0, 1, 100, 1e-2, spec(1e-6, 150)), 5, 1e-9);
  EXPECT_NEAR(seconds_left(10, 0, 1, 100, 2.0, spec(1e-6, 300)), 20, 1e-9) << "the residual grew";
}

TEST(SecondsLeft, AreUnknownWithoutTwoSamplesOrWithNan) {
  EXPECT_LT(seconds_left(0, 5, 1, 5, 1, spec(1e-6, 100)), 0);
  EXPECT_LT(seconds_left(1, 0, 1, 5, std::nan(""), spec(1e-6, 100)), 0);
}

TEST(TerminalProgress, WritesAtMostFiveTimesASecondAndClearsItsLine) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* memory = open_memstream(&text, &size);
  {
    TerminalProgress progress(memory, spec(1e-8, 1'000'000));
    progress.run_begins(0, "albus");
    for (int i = 0; i < 100'000; ++i) progress.iteration(0, i, 0.5);
  }
  std::fclose(memory);
  const std::string written(text, size);
  std::free(text);
  EXPECT_NE(written.find("albus: iteration 0, residual 5.0e-01"), std::string::npos) << written;
  EXPECT_LT(std::count(written.begin(), written.end(), '\r'), 50) << "100000 iterations";
  EXPECT_TRUE(written.ends_with("\r\033[K")) << written;
}

TEST(TerminalProgress, NamesTheStepOfASequence) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* memory = open_memstream(&text, &size);
  {
    TerminalProgress progress(memory, spec(1e-8, 1'000));
    progress.run_begins(0, "albus");
    progress.sequence_step(11, 100);
    progress.iteration(0, 0, 0.5);
  }
  std::fclose(memory);
  const std::string written(text, size);
  std::free(text);
  EXPECT_NE(written.find("albus: step 12 of 100, iteration 0"), std::string::npos) << written;
}

// What a PlainProgress writes of two steps and 1000 iterations.
std::string plain_text(std::chrono::milliseconds quiet, std::chrono::milliseconds interval) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* memory = open_memstream(&text, &size);
  {
    PlainProgress progress(memory, spec(1e-8, 1'000), quiet, interval);
    progress.step_begins("reading a.h5");
    progress.step_begins("building albus");
    progress.run_begins(0, "albus");
    for (int i = 0; i < 1'000; ++i) progress.iteration(0, i, 0.5);
  }
  std::fclose(memory);
  std::string written(text, size);
  std::free(text);
  return written;
}

TEST(PlainProgress, WritesALinePerStepAndPerInterval) {
  using namespace std::chrono_literals;
  EXPECT_EQ(plain_text(0s, 1h),
            "reading a.h5 ...\nbuilding albus ...\nalbus: iteration 0, residual 5.0e-01\n");
}

TEST(PlainProgress, IsSilentInAShortRun) {
  using namespace std::chrono_literals;
  EXPECT_EQ(plain_text(1h, 0s), "");
}

}  // namespace
}  // namespace trireme::solve
