// SPDX-License-Identifier: BSD-3-Clause
// A child in a session of its own that reads from a pipe: a byte where all is well, the end of the
// pipe where the writer has died.
#include "study/guardian.hpp"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/stopwatch.hpp"
#include "study/process.hpp"
#include "study/session_processes.hpp"

namespace trireme::study {
namespace {

void end_session(pid_t session) {
  kill(-session, SIGTERM);
  const Stopwatch watch;
  while (watch.seconds() < kGraceSeconds && !processes_of(session).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  kill_session(session);
}

// In the child. It keeps the descriptors of the study, so that the folder of results stays locked
// until the run has ended, but not its output, of which a pipe may wait for the end.
[[noreturn]] void guard(pid_t session, int pipe) {
  setsid();
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0)
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, number);
  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(pipe, &byte, 1);
  } while (count < 0 && errno == EINTR);
  if (count == 0) end_session(session);
  _exit(0);
}

}  // namespace

Guardian::Guardian(pid_t session) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;  // the run has no guardian
  process_ = fork();
  if (process_ == 0) {
    close(ends[1]);
    guard(session, ends[0]);
  }
  close(ends[0]);
  pipe_ = ends[1];
}

Guardian::~Guardian() {
  if (pipe_ < 0) return;
  const char byte = 1;
  // Where the guardian is gone, SIGPIPE must not end the study.
  sigset_t pipe_signal, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const bool lost = write(pipe_, &byte, 1) != 1;
  const timespec at_once = {};
  if (lost) sigtimedwait(&pipe_signal, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(pipe_);
  while (process_ > 0 && waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace trireme::study
