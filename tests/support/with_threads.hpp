// SPDX-License-Identifier: BSD-3-Clause
// A number of OpenMP threads for a part of a test.
#pragma once

#include <omp.h>

namespace trireme::test {

// Sets the number of OpenMP threads until the end of the scope.
class WithThreads {
 public:
  explicit WithThreads(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~WithThreads() { omp_set_num_threads(before_); }
  WithThreads(const WithThreads&) = delete;
  WithThreads& operator=(const WithThreads&) = delete;

 private:
  int before_;
};

}  // namespace trireme::test
