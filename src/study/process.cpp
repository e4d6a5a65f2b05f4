// SPDX-License-Identifier: BSD-3-Clause
// posix_spawn in a new session, then poll() on the process and on the signals.
#include "study/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "study/guardian.hpp"
#include "study/session_processes.hpp"

namespace trireme::study {
namespace {

constexpr int kMemoryMilliseconds = 50;
constexpr int kWithoutPidfdMilliseconds = 10;

std::vector<std::string> environment_of(const Launch& launch) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::ranges::any_of(
        launch.environment, [&](const auto& added) { return added.first == name; });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : launch.environment)
    all.push_back(fmt::format("{}={}", name, value));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Returns the process, or the error number with a minus sign.
pid_t spawn(const Launch& launch, const sigset_t& mask) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addchdir_np(&files, launch.folder.c_str());
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "stdout", flags, 0666);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "stderr", flags, 0666);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &mask);

  std::vector<std::string> words = launch.words, environment = environment_of(launch);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words.front().c_str(), &files, &attributes,
                                 pointers(words).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? child : -error;
}

class Watch {
 public:
  Watch(const Launch& launch, pid_t child, StopSignals& stop)
      : launch_(launch), child_(child), stop_(stop), signals_before_(stop.count()) {
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  }
  ~Watch() {
    if (pidfd_ >= 0) close(pidfd_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Ended wait_for_end() {
    int status = 0;
    rusage usage = {};
    while (wait4(child_, &status, WNOHANG, &usage) == 0) {
      wait_a_while();
      act();
    }
    ended_.seconds = watch_.seconds();
    ended_.peak_memory = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
    if (ended_.how == End::exited && WIFSIGNALED(status)) {
      ended_.how = End::signalled;
      ended_.signal = WTERMSIG(status);
    } else if (ended_.how == End::exited) {
      ended_.exit_code = WEXITSTATUS(status);
    }
    return ended_;
  }

 private:
  void wait_a_while() const {
    double seconds = 3600;
    if (terminated_at_ >= 0)
      seconds = terminated_at_ + kGraceSeconds - watch_.seconds();
    else if (launch_.seconds > 0)
      seconds = launch_.seconds - watch_.seconds();
    int milliseconds = static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 3600.0) * 1e3));
    if (launch_.bytes > 0) milliseconds = std::min(milliseconds, kMemoryMilliseconds);
    if (pidfd_ < 0) milliseconds = std::min(milliseconds, kWithoutPidfdMilliseconds);
    pollfd events[] = {{stop_.descriptor(), POLLIN, 0}, {pidfd_, POLLIN, 0}};
    poll(events, 2, std::max(milliseconds, 1));
  }

  void act() {
    const int signals = stop_.count() - signals_before_;
    const double now = watch_.seconds();
    if (terminated_at_ < 0) {
      if (signals > 0)
        terminate(End::interrupted);
      else if (launch_.seconds > 0 && now >= launch_.seconds)
        terminate(End::time);
      else if (launch_.bytes > 0 && held_memory() > launch_.bytes) {
        ended_.how = End::memory;
        kill_session(child_);
      }
    } else if (signals > 1 || now >= terminated_at_ + kGraceSeconds) {
      kill_session(child_);
    }
  }

  void terminate(End how) {
    ended_.how = how;
    terminated_at_ = watch_.seconds();
    kill(-child_, SIGTERM);
  }

  double held_memory() const {
    double sum = 0;
    for (const SessionProcess& process : processes_of(child_)) sum += process.bytes;
    return sum;
  }

  const Launch& launch_;
  pid_t child_;
  StopSignals& stop_;
  int signals_before_;
  int pidfd_ = -1;
  Stopwatch watch_;
  double terminated_at_ = -1;  // seconds; negative: not yet
  Ended ended_;
};

}  // namespace

Ended run_process(const Launch& launch, StopSignals& stop) {
  const pid_t child = spawn(launch, stop.mask_before());
  if (child < 0) {
    Ended ended;
    ended.how = End::not_started;
    ended.error =
        fmt::format("{}: {}", launch.words.front(), std::generic_category().message(-child));
    return ended;
  }
  Guardian guardian(child);
  Ended ended = Watch(launch, child, stop).wait_for_end();
  kill_session(child);  // what it left behind, such as ranks of a killed mpirun
  return ended;
}

}  // namespace trireme::study
