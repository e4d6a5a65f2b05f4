// SPDX-License-Identifier: BSD-3-Clause
// A temporary folder for the cache that all ranks share.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "parallel/collective.hpp"

namespace trireme::test {

class CacheOfRanks : public testing::Test {
 protected:
  CacheOfRanks() {
    std::string name = std::filesystem::temp_directory_path() / "trireme-cache-XXXXXX";
    if (rank_of(MPI_COMM_WORLD) == 0 && !mkdtemp(name.data())) name.clear();
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = name;
  }
  ~CacheOfRanks() override {
    on_rank_zero([&] { std::filesystem::remove_all(folder_); });
  }

  // Between what the ranks did before and what they do after.
  template <class Work>
  static void on_rank_zero(Work&& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) work();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::filesystem::path folder_;
};

}  // namespace trireme::test
