// SPDX-License-Identifier: BSD-3-Clause
// A limit of this process's address space for the length of a test.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace trireme::test {

// While it lives, the process may map at most so many bytes more than it has mapped already.
class LimitedMemory {
 public:
  explicit LimitedMemory(std::size_t bytes) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~LimitedMemory() { setrlimit(RLIMIT_AS, &before_); }
  LimitedMemory(const LimitedMemory&) = delete;
  LimitedMemory& operator=(const LimitedMemory&) = delete;

 private:
  rlimit before_{};
};

}  // namespace trireme::test
