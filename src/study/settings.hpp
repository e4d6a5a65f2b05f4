// SPDX-License-Identifier: BSD-3-Clause
// YAML values -> settings: nested keys are joined, patterns of files and kernels become lists.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "study/study.hpp"

namespace trireme::study {

// A value of the study as it was written.
struct Written {
  std::string key;                                      // "kernel"
  const YAML::Node value;                               // const: assigning to it changes its tree
  std::filesystem::path folder;                         // that its paths are relative to
  std::function<std::string(const YAML::Node&)> place;  // "study.yaml:5:9"
};

// The kernels that a pattern such as "*" or "csr-*" stands for.
using KernelNames = std::vector<std::string>;

// The settings that one node stands for: a map gives one for each of its leaves.
Value settings_of(const Written& written, const YAML::Node& node);

// The values of a dimension: each item of the list, where patterns stand for all that they match.
// Throws Error{usage} for an empty list and for a pattern that matches nothing.
std::vector<Value> values_of(const Written& written, const KernelNames& kernels);

// Sorted absolute paths. Throws Error{usage} with `place` where nothing matches.
std::vector<std::filesystem::path> matching_files(const std::string& pattern,
                                                  const std::filesystem::path& folder,
                                                  const std::string& place);

}  // namespace trireme::study
