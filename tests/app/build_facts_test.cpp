// SPDX-License-Identifier: BSD-3-Clause
// What a run says of its program.
#include "app/figures/build_facts.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

namespace trireme {
namespace {

TEST(BuildFacts, HaveTheVersionOfTheDriver) {
  for (const auto& [text, version] : std::vector<std::pair<std::string, std::string>>{
           {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  "
            "(nixbld@)  \nGCC version:  gcc version 15.3.0 (GCC) \n",
            "580.159.04"},
           {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC "
            "2023\n",
            "535.54.03"},
           {"", ""}}) {
    std::istringstream file(text);
    EXPECT_EQ(driver_version(file), version);
  }
}

TEST(BuildFacts, HaveTheCommitAndTheTime) {
  EXPECT_TRUE(std::regex_match(build_commit(), std::regex("([0-9a-f]{12,40}(-dirty)?)?")));
  EXPECT_TRUE(std::regex_match(
      time_now(), std::regex("20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z")));
}

}  // namespace
}  // namespace trireme
