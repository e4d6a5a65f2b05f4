// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C and SIGTERM as a wish to stop, while an object of this class lives.
#pragma once

namespace trireme {

// The first signal is only noted; a second one of the same kind does what it did before. One at a
// time, on the main thread.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool asked();  // since the last guard was made
};

}  // namespace trireme
