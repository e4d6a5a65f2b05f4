// SPDX-License-Identifier: BSD-3-Clause
// The handlers and what they were before.
#include "krylov/interrupt.hpp"

#include <signal.h>

namespace trireme {
namespace {

// A signal handler can reach nothing but these.
volatile sig_atomic_t noted = 0;
struct sigaction before_int, before_term;

void note(int signal) {
  noted = 1;
  sigaction(signal, signal == SIGINT ? &before_int : &before_term, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  noted = 0;
  struct sigaction action = {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &before_int, nullptr);
  sigaction(SIGTERM, &before_term, nullptr);
}

bool InterruptGuard::asked() { return noted != 0; }

}  // namespace trireme
