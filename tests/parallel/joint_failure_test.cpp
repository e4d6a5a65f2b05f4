// SPDX-License-Identifier: BSD-3-Clause
// An exception that leaves run_together() leaves it on every rank.
#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <string>
#include <thread>

#include "parallel/run_together.hpp"

namespace trireme {
namespace {

const MPI_Comm kWorld = MPI_COMM_WORLD;

template <class Work>
void expect_agreed(Work work, ExitCode code, const std::string& message) {
  try {
    run_together(kWorld, work);
    ADD_FAILURE() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.ranks(), size_of(kWorld));
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.what(), message);
  }
}

TEST(RunTogether, ReturnsWhatTheWorkReturns) {
  EXPECT_EQ(run_together(kWorld, [] { return 7; }), 7);
  int calls = 0;
  run_together(kWorld, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(RunTogether, MakesTheErrorsOfAllRanksTheLowestRanksHoweverLateOneComes) {
  for (int late = 0; late < size_of(kWorld); ++late)
    expect_agreed(
        [&] {
          const int rank = rank_of(kWorld);
          if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(300));
          fail(ExitCode::input, "rank {} has no file", rank);
        },
        ExitCode::input, "rank 0 has no file");
}

TEST(RunTogether, TakesAnyExceptionOfAnyRank) {
  expect_agreed(
      [] {
        if (rank_of(kWorld) == 0) throw std::bad_alloc();
        throw std::runtime_error("something else");
      },
      ExitCode::resource, "not enough memory on this rank; use more ranks or nodes");
}

TEST(RunTogether, LetsAgreedErrorsPass) {
  const auto work = [] {
    collectively(kWorld, [] {
      if (rank_of(kWorld) == size_of(kWorld) - 1) fail(ExitCode::usage, "no such kernel");
    });
  };
  expect_agreed(work, ExitCode::usage, "no such kernel");
  expect_agreed([&] { run_together(kWorld, work); }, ExitCode::usage, "no such kernel");
}

}  // namespace
}  // namespace trireme
