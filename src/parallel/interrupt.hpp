// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C and SIGTERM as a wish to stop.
#pragma once

#include <mpi.h>

namespace trireme {

// From begin() to the end of the object the first Ctrl-C or SIGTERM is only noted. A second Ctrl-C
// does what it did before, and so does a SIGTERM that comes more than kSecondsTwice later: sooner,
// it is the same one again, from a scheduler and through mpirun. Where one was noted, SIGTERM stays
// so afterwards too: the program is about to end. One object at a time, on the main thread.
class InterruptGuard {
 public:
  static constexpr int kSecondsTwice = 3;

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
