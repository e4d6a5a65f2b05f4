// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C and SIGTERM as requests to stop.
#pragma once

#include <mpi.h>

namespace trireme {

// From begin() to the end of the object, the first Ctrl-C or SIGTERM is only noted. A second Ctrl-C
// has the effect that it had before begin(). So has a second SIGTERM that comes more than
// kSecondsTwice later; an earlier one is taken for the same request, which a scheduler and mpirun
// both send. After a noted signal, SIGTERM is still only noted beyond the end of the object,
// because the program is about to end. One object at a time, on the main thread.
class InterruptGuard {
 public:
  static constexpr int kSecondsTwice = 3;

  InterruptGuard() = default;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  void begin();

  static bool asked();                        // whether this rank has noted a signal
  static bool asked_anywhere(MPI_Comm comm);  // whether any rank has; collective

 private:
  bool begun_ = false;
};

}  // namespace trireme
