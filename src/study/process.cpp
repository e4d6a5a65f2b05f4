// SPDX-License-Identifier: BSD-3-Clause
// fork() and exec in a new session, then poll() on the process and on the signals.
#include "study/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <optional>
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

// A child that waits with its exec until start() is called, so that its guardian is there before it
// does anything. Where this process dies earlier, the child ends.
class HeldChild {
 public:
  HeldChild(const Launch& launch, const sigset_t& mask) {
    std::vector<std::string> words = launch.words, environment = environment_of(launch);
    const std::vector<char*> argv = pointers(words), envp = pointers(environment);
    if (pipe2(gate_, O_CLOEXEC) != 0 || pipe2(failure_, O_CLOEXEC) != 0) {
      error_ = errno;
      return;
    }
    process_ = fork();
    if (process_ < 0) error_ = errno;
    if (process_ == 0) become(launch.folder.c_str(), mask, argv.data(), envp.data());
    close_end(gate_[0]);
    close_end(failure_[1]);
  }
  ~HeldChild() {
    for (int* end : {&gate_[0], &gate_[1], &failure_[0], &failure_[1]}) close_end(*end);
  }
  HeldChild(const HeldChild&) = delete;
  HeldChild& operator=(const HeldChild&) = delete;

  pid_t process() const { return process_; }

  // Returns 0, or the error number with which the program could not be started.
  int start() {
    if (error_ != 0) return error_;
    const char byte = 1;
    if (write(gate_[1], &byte, 1) != 1) return errno;
    int error = 0;
    while (read(failure_[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
    if (error != 0) waitpid(process_, nullptr, 0);
    return error;
  }

 private:
  // In the child, where only functions that are safe after fork() are called.
  [[noreturn]] void become(const char* folder, const sigset_t& mask, char* const* argv,
                           char* const* envp) {
    setsid();
    close(gate_[1]);
    char byte = 0;
    ssize_t count = 0;
    do {
      count = read(gate_[0], &byte, 1);
    } while (count < 0 && errno == EINTR);
    if (count != 1) _exit(1);
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    if (chdir(folder) == 0 && put(STDIN_FILENO, "/dev/null", O_RDONLY) &&
        put(STDOUT_FILENO, "stdout", flags) && put(STDERR_FILENO, "stderr", flags)) {
      pthread_sigmask(SIG_SETMASK, &mask, nullptr);
      execvpe(argv[0], argv, envp);
    }
    const int error = errno;
    if (write(failure_[1], &error, sizeof error) != sizeof error) _exit(2);
    _exit(1);
  }
  static bool put(int number, const char* file, int flags) {
    const int opened = open(file, flags, 0666);
    if (opened < 0 || dup2(opened, number) < 0) return false;
    if (opened != number) close(opened);
    return true;
  }
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }

  int gate_[2] = {-1, -1}, failure_[2] = {-1, -1};
  pid_t process_ = -1;
  int error_ = 0;
};

class Watch {
 public:
  Watch(const Launch& launch, pid_t child, StopSignals& stop)
      : launch_(launch), child_(child), stop_(stop) {
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
    const int signals = stop_.count();
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
  int pidfd_ = -1;
  Stopwatch watch_;
  double terminated_at_ = -1;  // seconds; negative: not yet
  Ended ended_;
};

}  // namespace

Ended run_process(const Launch& launch, StopSignals& stop) {
  HeldChild child(launch, stop.mask_before());
  std::optional<Guardian> guardian;
  if (child.process() > 0) guardian.emplace(child.process());
  if (const int error = child.start(); error != 0) {
    Ended ended;
    ended.how = End::not_started;
    ended.error =
        fmt::format("{}: {}", launch.words.front(), std::generic_category().message(error));
    return ended;
  }
  Ended ended = Watch(launch, child.process(), stop).wait_for_end();
  kill_session(child.process());  // what it left behind, such as ranks of a killed mpirun
  return ended;
}

}  // namespace trireme::study
