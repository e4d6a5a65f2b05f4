// SPDX-License-Identifier: BSD-3-Clause
// Cases as text, run on all ranks.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "app/run_case.hpp"
#include "config/read_case.hpp"
#include "petsc/shim.hpp"
#include "support/cg_unless_named.hpp"
#include "support/petsc_environment.hpp"
#include "support/petsc_option.hpp"

namespace trireme::test {

inline Case case_of(const std::string& problem, const std::string& rest) {
  return parse_with_cg("problem: {" + problem + "}\n" + rest + "\nreport: {solution: false}\n",
                       "test.yaml");
}

inline CaseOutcome solve(const std::string& problem, const std::string& rest) {
  return run_case(MPI_COMM_WORLD, case_of(problem, rest), nullptr);
}

inline std::string error_of(const std::string& problem, const std::string& rest, ExitCode code) {
  try {
    solve(problem, rest);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << rest;
  return "";
}

}  // namespace trireme::test
