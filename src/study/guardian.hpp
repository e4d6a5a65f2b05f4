// SPDX-License-Identifier: BSD-3-Clause
// Ends a run whose study has died.
#pragma once

#include <sys/types.h>

namespace trireme::study {

// While it lives, another process waits for the end of this one. Where this process ends without
// the destructor, by SIGKILL or SIGQUIT, the other one sends SIGTERM to the run's process group,
// and after kGraceSeconds SIGKILL to all that is left of the run's session.
class Guardian {
 public:
  explicit Guardian(pid_t session);
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

 private:
  pid_t process_ = -1;
  int pipe_ = -1;  // its other end is the guardian's
};

}  // namespace trireme::study
