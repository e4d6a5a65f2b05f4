// SPDX-License-Identifier: BSD-3-Clause
// When a rank whose GPU others wait for is killed or suspended, the other rank soon ends with an
// error line and exit code 4. The tests start the program lost_peer, which lies beside this one, by
// mpirun. They skip without a GPU.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "device/device.hpp"

namespace trireme {
namespace {

// The maximum number of seconds: one for the wait, some until the line, the rest for the start.
constexpr double kMax = 60;

struct Ending {
  int status = -1;
  double seconds = 0;
  std::string output;
  bool says(const char* text) const { return output.find(text) != std::string::npos; }
};

// Runs lost_peer. With `recovery`, mpirun does not end the other rank when a rank has been killed.
Ending end_of(const std::string& arguments, bool recovery, int ranks = 2) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string command = "timeout -k 5 " + std::to_string(2 * kMax) +
                              " mpirun --allow-run-as-root --oversubscribe --bind-to none " +
                              (recovery ? "--enable-recovery " : "") + "-n " +
                              std::to_string(ranks) + " " + (folder / "lost_peer").string() + " " +
                              arguments + " 2>&1";
  Ending ending;
  const auto begin = std::chrono::steady_clock::now();
  std::FILE* pipe = popen(command.c_str(), "r");
  char text[4096];
  while (pipe && std::fgets(text, sizeof text, pipe)) ending.output += text;
  if (pipe) ending.status = WEXITSTATUS(pclose(pipe));
  ending.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return ending;
}

void expect_the_line(const Ending& ending, const char* rank = "rank 0") {
  EXPECT_TRUE(ending.says((std::string("lost_peer: ") + rank + ": ").c_str())) << ending.output;
  EXPECT_LT(ending.seconds, kMax) << ending.output;
  EXPECT_FALSE(ending.says("no number is NaN")) << ending.output;
  EXPECT_FALSE(ending.says("nobody was missed")) << ending.output;
}

class LostPeerIn : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU here";
  }
};

class StandingPeerIn : public LostPeerIn {};

TEST_P(StandingPeerIn, EndsTheJobWithCodeFour) {
  const Ending ending = end_of(GetParam() + " stop", false);
  if (ending.says("NOT HERE")) GTEST_SKIP() << "needs two GPUs";
  expect_the_line(ending);
  EXPECT_TRUE(ending.says("waited 1 s for that of rank 1")) << ending.output;
  EXPECT_EQ(ending.status, 4) << ending.output;
}

// There is no test with a graph, because the GPU of a suspended process goes on with its graph.
INSTANTIATE_TEST_SUITE_P(, StandingPeerIn, testing::Values("sum", "halo", "stepped"),
                         [](const auto& way) { return way.param; });

// The line names ranks by their numbers in the job, not in their node.
TEST(StandingPeerOfANode, EndsTheJobWithCodeFour) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU here";
  const Ending ending = end_of("mixed stop", false, 4);
  expect_the_line(ending, "rank 2");
  EXPECT_TRUE(ending.says("waited 1 s for that of rank 3")) << ending.output;
  EXPECT_EQ(ending.status, 4) << ending.output;
}

class KilledPeerIn : public LostPeerIn {};

TEST_P(KilledPeerIn, EndsTheOtherRank) {
  const Ending ending = end_of(GetParam() + " kill", true);
  if (ending.says("NOT HERE")) GTEST_SKIP() << "needs two GPUs";
  expect_the_line(ending);
}

INSTANTIATE_TEST_SUITE_P(, KilledPeerIn, testing::Values("sum", "graph"),
                         [](const auto& way) { return way.param; });

}  // namespace
}  // namespace trireme
