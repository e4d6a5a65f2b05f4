// SPDX-License-Identifier: BSD-3-Clause
// How much memory a case will take per rank, from sizes that are known before anything is read.
#pragma once

#include <string>
#include <vector>

#include "config/case.hpp"
#include "io/system_source.hpp"

namespace trireme {

struct MemoryPart {
  std::string name;
  double bytes = 0;
};

// What a rank holds at the peak of its run. The sum of `host` is the forecast for the rank with the
// largest share, where the shares are equal and few entries are ghosts.
struct MemoryForecast {
  std::vector<MemoryPart> host;
  std::vector<MemoryPart> gpu;             // for a kernel on a GPU; empty where none can be used
  std::vector<std::string> left_out = {};  // what nobody can tell before the run
};

// `program_bytes` is what the process holds before it reads: resident_bytes(). `gpu_free`: of the
// GPU of this rank; 0: not known, which stands for plenty.
MemoryForecast forecast_memory(const Case& c, const MatrixFacts& facts, int ranks,
                               double program_bytes, double gpu_free = 0);

double sum_of(const std::vector<MemoryPart>& parts);

// A line per part, with its bytes on the host and on a GPU, and one for all of them.
std::string forecast_table(const MemoryForecast& forecast);

}  // namespace trireme
