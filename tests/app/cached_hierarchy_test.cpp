// SPDX-License-Identifier: BSD-3-Clause
// A run finds the hierarchy of multigrid that an earlier run has kept, and solves with the same
// bits; anything by which the hierarchy would differ makes the run build it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "cache/cache.hpp"
#include "cache_of_ranks.hpp"
#include "parallel/collective.hpp"
#include "solved_cases.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

// Large enough that the hierarchy saves more than what an entry has to save.
const std::string kProblem = "generate: diffusion3d, n: 38, rhs: random";
const std::string kMultigrid = "solver: {preconditioner: multigrid}";

class CachedHierarchy : public test::CacheOfRanks {
 protected:
  CaseOutcome outcome(const std::string& problem, const std::string& rest) const {
    Case c = test::case_of(problem, "device: cpu\n" + rest);
    c.cache = {.use = true, .directory = folder_};
    return run_case(MPI_COMM_WORLD, c, nullptr);
  }
  RunOutcome run(const std::string& problem = kProblem,
                 const std::string& rest = "kernel: albus\n" + kMultigrid) const {
    return outcome(problem, rest).runs.at(0);
  }
  static bool was_read(const RunOutcome& run) { return run.multigrid && run.multigrid->read; }
};

TEST_F(CachedHierarchy, SolvesWithTheSameBits) {
  const RunOutcome built = run(), read = run();
  EXPECT_FALSE(was_read(built));
  ASSERT_TRUE(built.multigrid->kept);
  ASSERT_TRUE(was_read(read));
  EXPECT_FALSE(read.multigrid->kept);
  EXPECT_EQ(read.multigrid->read->bytes, built.multigrid->kept->bytes);
  EXPECT_TRUE(read.converged);
  EXPECT_EQ(read.history, built.history);
  EXPECT_EQ(read.relative_residual, built.relative_residual);
  EXPECT_EQ(read.multigrid->levels.size(), built.multigrid->levels.size());
}

TEST_F(CachedHierarchy, IsNotFoundForOtherValues) {
  run("generate: diffusion3d, n: 38, seed: 1, rhs: random");
  EXPECT_FALSE(was_read(run("generate: diffusion3d, n: 38, seed: 2, rhs: random")));
}

TEST_F(CachedHierarchy, IsNotFoundForOtherOptions) {
  run();
  const char* const options[] = {"threshold: 0.2",
                                 "smoother: jacobi",
                                 "degree: 3",
                                 "cycle: w",
                                 "smoothed_prolongator: false",
                                 "fill: 0.5",
                                 "aggressive_levels: 1",
                                 "precision: double"};
  const bool alone = size_of(MPI_COMM_WORLD) == 1;  // ranks share the cores
  for (const char* option : std::span(options).first(alone ? std::size(options) : 1)) {
    const std::string rest = "kernel: albus\nsolver: {preconditioner: multigrid, multigrid: {" +
                             std::string(option) + "}}";
    const RunOutcome other = run(kProblem, rest);
    EXPECT_FALSE(was_read(other)) << option;
  }
  EXPECT_TRUE(was_read(run()));
}

TEST_F(CachedHierarchy, IsFoundForAnotherRightHandSide) {
  run();
  EXPECT_TRUE(was_read(run("generate: diffusion3d, n: 38, rhs: ones")));
}

TEST_F(CachedHierarchy, ServesNoRunsThatAreCompared) {
  run();
  const CaseOutcome compared = outcome(kProblem, "kernel: [albus, csr]\n" + kMultigrid);
  for (const RunOutcome& of_kernel : compared.runs) EXPECT_FALSE(was_read(of_kernel));
}

TEST_F(CachedHierarchy, IsKnownToAuto) {
  const auto verdict = [this] {
    const RunOutcome automatic = run(kProblem, "kernel: albus\nsolver: {preconditioner: auto}");
    return std::ranges::find(automatic.preconditioner_choice->candidates, "multigrid",
                             &PreconditionerCandidate::name)
        ->verdict;
  };
  const std::string told = "the cache has its hierarchy";
  EXPECT_EQ(verdict().find(told), std::string::npos);
  run();
  EXPECT_NE(verdict().find(told), std::string::npos);
}

TEST_F(CachedHierarchy, ThatIsDamagedIsBuiltAgainAfterOneNote) {
  const RunOutcome built = run();
  on_rank_zero([&] {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(fs::file_size(entry.path()) / 2));
      file.put('x').put('y');
    }
  });
  const RunOutcome again = run();
  EXPECT_FALSE(was_read(again));
  EXPECT_EQ(again.history, built.history);
  int notes = 0;
  for (const std::string& note : again.notes)
    notes += note.find("has a wrong checksum; it is ignored and removed") != std::string::npos;
  EXPECT_EQ(notes, 1);
  EXPECT_TRUE(was_read(run()));
}

// The checksum is right, so that nothing but the solve tells.
TEST_F(CachedHierarchy, ThatEndsTheSolveIsBuiltAgainInTheSameRun) {
  const RunOutcome built = run();
  on_rank_zero([&] {
    for (const auto& file : fs::directory_iterator(folder_)) {
      CacheHit hit = Cache::read(file.path());
      for (std::size_t at = hit.payload.size() / 32 * 8; at < hit.payload.size() / 2; at += 8) {
        double value = 0;
        std::memcpy(&value, hit.payload.data() + at, sizeof value);
        if (!(std::abs(value) > 1e-3 && std::abs(value) < 1e3))
          continue;  // of a column, or a radius
        value = -1e300;
        std::memcpy(hit.payload.data() + at, &value, sizeof value);
      }
      std::ofstream out(file.path(), std::ios::binary);
      out << encode_head(hit.head, hit.payload);
      out.write(reinterpret_cast<const char*>(hit.payload.data()),
                static_cast<std::streamsize>(hit.payload.size()));
    }
  });
  const RunOutcome again = run();
  EXPECT_TRUE(again.converged) << again.reason;
  EXPECT_FALSE(was_read(again));
  EXPECT_EQ(again.history, built.history);
  EXPECT_EQ(std::ranges::count_if(again.notes,
                                  [](const std::string& note) {
                                    return note.find("led to a solve that failed") !=
                                           std::string::npos;
                                  }),
            1);
  EXPECT_TRUE(again.multigrid->kept);
}

// A file that is cut, and one of a later version of the format.
TEST_F(CachedHierarchy, ThatOneRankCannotReadIsBuiltByAll) {
  const RunOutcome built = run();
  const auto cut = [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 2); };
  const auto of_another_version = [](const fs::path& path) {
    constexpr std::streamoff kVersionAt = 8;
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kVersionAt).put('\x7f');
  };
  const std::pair<std::function<void(const fs::path&)>, std::string> faults[] = {
      {cut, "is truncated"}, {of_another_version, "has the format version 127"}};
  for (const auto& [damage, fault] : faults) {
    on_rank_zero([&] { damage(fs::directory_iterator(folder_)->path()); });
    const RunOutcome again = run();
    EXPECT_FALSE(was_read(again)) << fault;
    EXPECT_EQ(again.history, built.history) << fault;
    EXPECT_EQ(std::ranges::count_if(
                  again.notes,
                  [&](const std::string& note) { return note.find(fault) != std::string::npos; }),
              1)
        << fault;
    EXPECT_TRUE(was_read(run())) << fault;
  }
}

}  // namespace
}  // namespace trireme
