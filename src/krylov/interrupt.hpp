// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C and SIGTERM as a wish to stop.
#pragma once

#include <mpi.h>

namespace trireme {

// From begin() to the end of the object the first Ctrl-C and every SIGTERM are only noted; a second
// Ctrl-C does what it did before. Where one was noted, SIGTERM stays harmless afterwards too: the
// program is about to end. One object at a time, on the main thread.
class InterruptGuard {
 public:
  InterruptGuard() = default;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  void begin();

  static bool asked();                        // on this rank
  static bool asked_anywhere(MPI_Comm comm);  // collective

 private:
  bool begun_ = false;
};

}  // namespace trireme
