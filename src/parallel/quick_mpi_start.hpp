// SPDX-License-Identifier: BSD-3-Clause
// Settings of Open MPI for a process that was started without mpirun.
#pragma once

#include <string>
#include <vector>

namespace trireme {

// Whether a launcher, such as mpirun or srun, has started this process as one of a job.
bool started_by_a_launcher();

// Without a launcher, MPI_Init starts a daemon and loads the libraries of every kind of network,
// some of which sleep to measure a clock. One process needs neither. While an object of this class
// exists, the environment tells Open MPI so; other MPI libraries do not read these variables. What
// the user has set stays. Not thread-safe: no other thread may read the environment meanwhile.
class QuickMpiStart {
 public:
  QuickMpiStart();
  // Removes what the constructor has added, so that processes that this one starts do not have it.
  ~QuickMpiStart();
  QuickMpiStart(const QuickMpiStart&) = delete;
  QuickMpiStart& operator=(const QuickMpiStart&) = delete;

 private:
  std::vector<std::string> added_;
};

}  // namespace trireme
