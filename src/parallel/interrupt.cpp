// SPDX-License-Identifier: BSD-3-Clause
// The signal handlers, and those that were set before.
#include "parallel/interrupt.hpp"

// POSIX promises sigaction and clock_gettime in these headers only.
#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <time.h>    // NOLINT(modernize-deprecated-headers)

namespace trireme {
namespace {

// A signal handler can use nothing but global variables of these types.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
volatile sig_atomic_t noted = 0;
struct sigaction before_int, before_term;
volatile time_t noted_at = 0;  // seconds
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

time_t now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

void note(int signal) {
  if (noted == 0) noted_at = now();
  noted = 1;
  if (signal == SIGINT) {
    sigaction(SIGINT, &before_int, nullptr);
  } else if (now() - noted_at > InterruptGuard::kSecondsTwice) {
    sigaction(SIGTERM, &before_term, nullptr);
    raise(SIGTERM);
  }
}

}  // namespace

void InterruptGuard::begin() {
  if (begun_) return;
  begun_ = true;
  struct sigaction action = {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
}

InterruptGuard::~InterruptGuard() {
  if (!begun_) return;
  sigaction(SIGINT, &before_int, nullptr);
  if (!noted) sigaction(SIGTERM, &before_term, nullptr);
  noted = 0;
}

bool InterruptGuard::asked() { return noted != 0; }

bool InterruptGuard::asked_anywhere(MPI_Comm comm) {
  int anywhere = asked() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &anywhere, 1, MPI_INT, MPI_MAX, comm);
  return anywhere != 0;
}

}  // namespace trireme
