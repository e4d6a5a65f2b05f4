// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C, SIGTERM and SIGHUP as something that poll() waits for.
#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX promises sigset_t here only

namespace trireme::study {

// While an object lives, these signals are only counted. They then have no effect of their own on
// this process. One object at a time; it is made before any thread.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int descriptor() const { return descriptor_; }  // readable when a signal has come
  int count();                                    // of the signals that have come
  const sigset_t& mask_before() const { return before_; }

 private:
  int descriptor_ = -1;
  int count_ = 0;
  sigset_t before_ = {};
};

}  // namespace trireme::study
