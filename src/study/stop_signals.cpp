// SPDX-License-Identifier: BSD-3-Clause
// The signals are blocked and read from a signalfd.
#include "study/stop_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace trireme::study {

StopSignals::StopSignals() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&mask, number);
  pthread_sigmask(SIG_BLOCK, &mask, &before_);
  descriptor_ = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

StopSignals::~StopSignals() {
  count();  // A signal that is still pending has been understood.
  if (descriptor_ >= 0) close(descriptor_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int StopSignals::count() {
  signalfd_siginfo signal = {};
  while (descriptor_ >= 0 && read(descriptor_, &signal, sizeof signal) == sizeof signal) ++count_;
  return count_;
}

}  // namespace trireme::study
