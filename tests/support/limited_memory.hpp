// SPDX-License-Identifier: BSD-3-Clause
// A limit on the address space of this process during a test.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace trireme::test {

// During the lifetime of this object the process may map at most `bytes` more than it had mapped
// before.
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
