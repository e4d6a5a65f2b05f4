// SPDX-License-Identifier: BSD-3-Clause
// Cases read from texts, and what a wrong one is told.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "config/read_case.hpp"

namespace trireme::test {

inline const std::string kSmallest = "problem: {generate: poisson3d, n: 8}\n";

inline Case read(const std::string& text, const Changes& changes = {}) {
  return parse_case(text, "folder/case.yaml", changes);
}

inline Case read_set(std::vector<std::string> assignments, const std::string& text = kSmallest) {
  Changes changes;
  for (const auto& assignment : assignments)
    changes.overrides.push_back(parse_override(assignment));
  return read(text, changes);
}

// The message of the usage error that `work` ends in.
template <class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage) << e.what();
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "no error";
}

inline std::string message(const std::string& text) {
  return message_of([&] { read(text); });
}

}  // namespace trireme::test
