// SPDX-License-Identifier: BSD-3-Clause
// The entries of problem.steps as the steps that they stand for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/case.hpp"

namespace trireme {

// What one step of a sequence replaces. An empty member stays as it was in the step before.
struct Step {
  std::filesystem::path file;  // empty: problem.file
  std::string matrix;          // group
  std::string values;          // dataset
  std::optional<RightHandSide> rhs;
  std::int64_t row = -1;  // of datasets with one row per step; -1: the entry has no count
};

// Each entry once, or `count` times with the numbers from, from + 1, ... in place of "{}". Expects
// a case that read_case() has checked.
std::vector<Step> steps_of(const std::vector<StepEntry>& entries);

// The name of what the step brings, for reports: "/values/7", "step7.h5:/A", "/b, row 7".
std::string name_of(const Step& step);

}  // namespace trireme
