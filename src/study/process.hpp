// SPDX-License-Identifier: BSD-3-Clause
// One process with all that it starts, within bounds of time and memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "study/stop_signals.hpp"

namespace trireme::study {

struct Launch {
  std::vector<std::string> words;  // the program, which PATH is searched for, and its arguments
  std::vector<std::pair<std::string, std::string>> environment;  // added to that of this process
  std::filesystem::path folder;  // its working directory, with the files stdout and stderr
  double seconds = 0;            // time limit; 0: none
  double bytes = 0;              // limit on the memory of all its processes together; 0: none
};

// How a process ended.
enum class End {
  exited,
  signalled,    // by a signal that did not come from here
  time,         // ended from here for its time limit
  memory,       // ended from here for its memory limit
  interrupted,  // ended from here, because a signal asked for it
  not_started,  // there is no such program
};

struct Ended {
  End how = End::exited;
  int exit_code = 0;  // of End::exited
  int signal = 0;     // of End::signalled
  double seconds = 0;
  std::int64_t peak_memory = 0;  // bytes, of its process that had most
  std::string error;             // of End::not_started
};

// Runs a process in a session of its own and waits for its end. At its time limit, and when `stop`
// has counted a signal, be it before the start, its process group gets SIGTERM. After
// kGraceSeconds, and at a second signal, every process of the session gets SIGKILL. Memory is
// looked at every 50 ms: the sum of what the processes hold, where pages that several of them share
// count several times. Leaves no process behind.
Ended run_process(const Launch& launch, StopSignals& stop);

inline constexpr double kGraceSeconds = 5;

}  // namespace trireme::study
