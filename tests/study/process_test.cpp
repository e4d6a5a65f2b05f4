// SPDX-License-Identifier: BSD-3-Clause
// However a process ends, its end is known and nothing of it remains.
#include "study/process.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers)

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "study/study_folder.hpp"

namespace trireme::study {
namespace {

class RunProcess : public StudyFolder {
 protected:
  Ended shell(const std::string& script, double seconds = 0, double bytes = 0) {
    return run_process({.words = {"sh", "-c", script},
                        .environment = {{"COLOUR", "blue"}},
                        .folder = folder,
                        .seconds = seconds,
                        .bytes = bytes},
                       stop);
  }
  std::string content(const std::string& name) const {
    std::ifstream file(folder / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  StopSignals stop;
};

TEST_F(RunProcess, ReturnsTheExitCodeAndKeepsTheOutput) {
  const Ended ended = shell("echo $COLOUR; pwd >&2; exit 5");
  EXPECT_EQ(ended.how, End::exited);
  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_GT(ended.peak_memory, 100'000);
  EXPECT_EQ(content("stdout"), "blue\n");
  EXPECT_EQ(content("stderr"), std::filesystem::canonical(folder).string() + "\n");
}

TEST_F(RunProcess, KnowsTheSignalOfACrash) {
  const Ended ended = shell("kill -SEGV $$");
  EXPECT_EQ(ended.how, End::signalled);
  EXPECT_EQ(ended.signal, SIGSEGV);
}

bool is_gone(pid_t process) {
  for (int i = 0; i < 500 && kill(process, 0) == 0; ++i) {
    std::ifstream status(fmt::format("/proc/{}/stat", process));
    std::string number, name, state;
    if (status >> number >> name >> state && state == "Z") return true;  // nobody waits for it
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return kill(process, 0) != 0;
}

TEST_F(RunProcess, EndsAHangAtItsTimeLimitWithAllThatItStarted) {
  const Ended ended = shell("sleep 1000 & echo $!; wait", 0.2);
  EXPECT_EQ(ended.how, End::time);
  EXPECT_LT(ended.seconds, kGraceSeconds);
  const pid_t grandchild = std::stoi(content("stdout"));
  EXPECT_TRUE(is_gone(grandchild));
}

TEST_F(RunProcess, DiesWithTheProcessThatHasStartedIt) {
  for (const int signal : {SIGKILL, SIGQUIT}) {
    std::filesystem::remove(folder / "stdout");
    const pid_t study = fork();
    if (study == 0) {
      std::signal(SIGQUIT, SIG_DFL);  // a shell's job in the background ignores it
      shell("sleep 1000 & echo $! $$; wait");
      _exit(0);
    }
    while (content("stdout").find('\n') == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pid_t grandchild = 0, child = 0;
    std::istringstream(content("stdout")) >> grandchild >> child;
    kill(study, signal);
    EXPECT_TRUE(is_gone(child));
    EXPECT_TRUE(is_gone(grandchild));
    waitpid(study, nullptr, 0);
  }
}

TEST_F(RunProcess, KillsWhatIgnoresSigterm) {
  const Ended ended = shell("trap '' TERM; while :; do sleep 0.1; done", 0.1);
  EXPECT_EQ(ended.how, End::time);
  EXPECT_GE(ended.seconds, kGraceSeconds);
  EXPECT_LT(ended.seconds, 4 * kGraceSeconds);
}

TEST_F(RunProcess, EndsWhatHoldsTooMuchMemory) {
  const Ended ended = shell("x=0123456789abcdef; while :; do x=$x$x; done", 30, 60e6);
  EXPECT_EQ(ended.how, End::memory);
  EXPECT_GT(ended.peak_memory, 30'000'000);
}

TEST_F(RunProcess, EndsAtASignalAndLeavesThisProcessAlone) {
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(getpid(), SIGINT);
  });
  EXPECT_EQ(shell("sleep 1000", 60).how, End::interrupted);
  later.join();
  EXPECT_EQ(stop.count(), 1);
}

TEST_F(RunProcess, EndsAtASignalThatCameBeforeItWasWatched) {
  kill(getpid(), SIGINT);
  EXPECT_EQ(shell("sleep 1000", 20).how, End::interrupted);
  EXPECT_EQ(stop.count(), 1);
}

TEST_F(RunProcess, SaysThatThereIsNoSuchProgram) {
  const Ended ended =
      run_process({.words = {"no-such-program-here"}, .environment = {}, .folder = folder}, stop);
  EXPECT_EQ(ended.how, End::not_started);
  EXPECT_EQ(ended.error, "no-such-program-here: No such file or directory");
}

}  // namespace
}  // namespace trireme::study
