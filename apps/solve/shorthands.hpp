// SPDX-License-Identifier: BSD-3-Clause
// The options of solve that stand for one key of the case.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace trireme::solve {

struct Shorthand {
  const char* option;  // "--rtol"
  const char* type;    // in the help
  std::string_view key;
  bool is_text;  // may be the name of a file, which is relative to the current directory
  const char* about;
};

inline constexpr Shorthand kShorthands[] = {
    {"--rhs", "B", "problem.rhs", true,
     "Right-hand side: a file (b.mtx, b.txt, other.h5:/b), a dataset of the file of the matrix "
     "(/b), or ones, random, from-ones"},
    {"--x0", "X0", "problem.x0", true,
     "First guess: a file, a dataset of the file of the matrix, or none"},
    {"--method", "M", "solver.method", false, "The method. All of them: --help solver.method"},
    {"--preconditioner", "P", "solver.preconditioner", false,
     "The preconditioner. All of them: --help solver.preconditioner"},
    {"--rtol", "R", "solver.rtol", false, "The residual's part of ||b|| at which the solve stops"},
    {"--device", "D", "device", false, "auto, cpu or cuda"},
};

inline constexpr std::string_view kKernelOption = "--kernel";  // of the key "kernel"; takes a list

// "--rtol" for "solver.rtol"; empty where no option stands for the key.
inline std::string_view shorthand_of(std::string_view key) {
  if (key == "kernel") return kKernelOption;
  const auto* const found = std::ranges::find(kShorthands, key, &Shorthand::key);
  return found == std::end(kShorthands) ? std::string_view() : found->option;
}

}  // namespace trireme::solve
