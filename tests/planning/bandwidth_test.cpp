// SPDX-License-Identifier: BSD-3-Clause
// Tests that the memory bandwidth is measured and that the bytes of a product are counted.
#include "planning/bandwidth.hpp"

#include <gtest/gtest.h>
#include <omp.h>

namespace trireme {
namespace {

TEST(Bandwidth, OnePassIsEnoughForARate) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(2);
  const HostBandwidth rates = measure_host_bandwidth(std::size_t{1} << 20, 1);
  EXPECT_GT(rates.copy, 0);
  EXPECT_GT(rates.triad, 0);
  EXPECT_GT(rates.read, 0);
  EXPECT_EQ(rates.threads, 2);
  omp_set_num_threads(threads);
}

TEST(Bandwidth, TheBestOfTheThreeCounts) {
  EXPECT_EQ((HostBandwidth{.copy = 3, .triad = 2, .read = 1}.best()), 3);
  EXPECT_EQ((HostBandwidth{.copy = 1, .triad = 3, .read = 2}.best()), 3);
  EXPECT_EQ((HostBandwidth{.copy = 1, .triad = 2, .read = 3}.best()), 3);
}

TEST(Bandwidth, AProductMovesTheLayoutAndBothVectors) {
  EXPECT_EQ(product_bytes(1000, 7, 5, 8), 1000 + 12 * 8);
  EXPECT_EQ(product_bytes(1000, 7, 5, 4), 1000 + 12 * 4);
}

}  // namespace
}  // namespace trireme
