// SPDX-License-Identifier: BSD-3-Clause
// A choice on disk is found for the same pattern, whatever the values, and for no other pattern;
// and a folder that is of no use costs a run nothing but a note.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "app/requested_kernels.hpp"
#include "cache/cache.hpp"
#include "cache_of_ranks.hpp"
#include "parallel/collective.hpp"
#include "solved_cases.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

class CachedDecision : public test::CacheOfRanks {
 protected:
  RunOutcome run(const std::string& problem, const std::string& rest = "") const {
    Case c = test::case_of(problem, "kernel: auto\ndevice: cpu\n" + rest);
    c.cache = {.use = true, .directory = folder_};
    return run_case(MPI_COMM_WORLD, c, nullptr).runs.at(0);
  }
};

TEST_F(CachedDecision, IsFoundForOtherValuesOnThePattern) {
  EXPECT_FALSE(run("generate: bands, n: 400, k: 3, seed: 1").trial->from_cache);
  EXPECT_TRUE(run("generate: bands, n: 400, k: 3, seed: 2").trial->from_cache);
}

TEST_F(CachedDecision, IsNotFoundForAnotherPatternWithTheSameCounts) {
  const std::string solver = "solver: {method: bicgstab, preconditioner: none, max_iterations: 3}";
  EXPECT_FALSE(run("generate: random, n: 400, k: 9, seed: 1", solver).trial->from_cache);
  EXPECT_FALSE(run("generate: random, n: 400, k: 9, seed: 2", solver).trial->from_cache);
  EXPECT_TRUE(run("generate: random, n: 400, k: 9, seed: 1", solver).trial->from_cache);
}

TEST_F(CachedDecision, IsNotFoundForAnotherMethod) {
  EXPECT_FALSE(run("generate: poisson2d, n: 20").trial->from_cache);
  EXPECT_FALSE(run("generate: poisson2d, n: 20", "solver: {method: minres}").trial->from_cache);
}

TEST_F(CachedDecision, IsNotFoundUnderOtherOptionsOfPetsc) {
  EXPECT_FALSE(run("generate: poisson2d, n: 20").trial->from_cache);
  {
    const test::PetscOption option("-nobody_reads_this", "1");
    EXPECT_FALSE(run("generate: poisson2d, n: 20").trial->from_cache);
  }
  EXPECT_TRUE(run("generate: poisson2d, n: 20").trial->from_cache);
}

std::int64_t notes_with(const RunOutcome& run, const std::string& text) {
  return std::count_if(run.notes.begin(), run.notes.end(), [&](const std::string& note) {
    return note.find(text) != std::string::npos;
  });
}

TEST_F(CachedDecision, ThatIsDamagedIsReplacedAfterOneNote) {
  const std::string problem = "generate: poisson2d, n: 20";
  run(problem);
  on_rank_zero([&] {
    for (const auto& entry : fs::directory_iterator(folder_)) fs::resize_file(entry, 100);
  });
  const RunOutcome second = run(problem);
  EXPECT_TRUE(second.converged);
  EXPECT_FALSE(second.trial->from_cache);
  EXPECT_EQ(notes_with(second, "it is ignored and removed"), 1);
  const RunOutcome third = run(problem);
  EXPECT_TRUE(third.trial->from_cache);
  EXPECT_EQ(notes_with(third, "cache entry"), 0);
}

// As another build of the same version would leave it.
TEST_F(CachedDecision, ThatNamesWhatThisProgramLacksIsReplacedAfterOneNote) {
  const std::string problem = "generate: poisson2d, n: 20";
  run(problem);
  for (const std::string part : {"kernel", "ordering", "ghost_kernel"}) {
    SCOPED_TRACE(part);
    on_rank_zero([&] {
      for (const auto& file : fs::directory_iterator(folder_)) {
        const CacheHit hit = Cache::read(file.path());
        std::string payload(reinterpret_cast<const char*>(hit.payload.data()), hit.payload.size());
        const std::size_t begin =
            payload.find('"', payload.find("\"" + part + "\":") + part.size() + 3);
        payload.replace(begin, payload.find('"', begin + 1) + 1 - begin, "\"of-another-build\"");
        const auto bytes = std::as_bytes(std::span(payload));
        std::ofstream(file.path(), std::ios::binary) << encode_head(hit.head, bytes) << payload;
      }
    });
    const RunOutcome second = run(problem);
    EXPECT_TRUE(second.converged);
    EXPECT_FALSE(second.trial->from_cache);
    EXPECT_EQ(notes_with(second, "names a kernel or an order that this program lacks"), 1);
    EXPECT_TRUE(run(problem).trial->from_cache);
  }
}

TEST_F(CachedDecision, IsForTheKernelsOfTheProgram) {
  const RunOutcome outcome = run("generate: poisson2d, n: 20");
  on_rank_zero([&] {
    for (const auto& file : fs::directory_iterator(folder_))
      EXPECT_NE(
          Cache::read(file.path())
              .head.key.find("\nkernels: " + kernels_of_build(Device::cpu, Precision::full) + "\n"),
          std::string::npos);
  });
  EXPECT_NE(kernels_of_build(Device::cpu, Precision::full).find("albus"), std::string::npos);
  EXPECT_EQ(kernels_of_build(Device::cpu, Precision::mixed).find("petsc-aij"), std::string::npos);
}

TEST_F(CachedDecision, InAFolderThatCannotBeWrittenIsOneNote) {
  folder_ /= "file";
  on_rank_zero([&] { std::ofstream(folder_) << "a file"; });
  const RunOutcome outcome = run("generate: poisson2d, n: 20");
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(notes_with(outcome, "nothing is kept in the cache"), 1);
  folder_ = folder_.parent_path();
}

}  // namespace
}  // namespace trireme
