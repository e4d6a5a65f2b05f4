// SPDX-License-Identifier: BSD-3-Clause
// The processes of a session: a run with all that it starts.
#pragma once

#include <sys/types.h>

#include <vector>

namespace trireme::study {

struct SessionProcess {
  pid_t process;
  double bytes;  // of memory
};

std::vector<SessionProcess> processes_of(pid_t session);

// Sends SIGKILL to each of them.
void kill_session(pid_t session);

}  // namespace trireme::study
