// SPDX-License-Identifier: BSD-3-Clause
// Tests when the report advises fewer GPUs.
#include "planning/gpu_shares.hpp"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(GpuShares, AdviseFewerGpusForASmallSystemOnly) {
  const std::string advice = advice_on_shares(2, 760'000);
  EXPECT_NE(advice.find("small for 2 GPUs, with 0.38 million nonzeros per GPU"), std::string::npos)
      << advice;
  EXPECT_NE(advice.find("try 1 GPU,"), std::string::npos) << advice;
  EXPECT_NE(advice_on_shares(8, 6'500'000).find("try 3 GPUs,"), std::string::npos);
  EXPECT_FALSE(advice_on_shares(2, 3'999'999).empty());
  EXPECT_TRUE(advice_on_shares(2, 4'000'000).empty());
  EXPECT_FALSE(advice_on_shares(4, 4'000'000).empty());
  EXPECT_TRUE(advice_on_shares(1, 1000).empty()) << "there is nothing to share";
  EXPECT_FALSE(advice_on_shares(2000, 3'000'000'000).empty()) << "no overflow";
}

}  // namespace
}  // namespace trireme
