// SPDX-License-Identifier: BSD-3-Clause
// The texts that are made from the command lines and from the keys of a case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pages/program.hpp"

namespace trireme::pages {

// A program that a shell completes: trireme, and the others where links keep their names.
struct Completed {
  std::string_view name;     // "kernel_bench"
  std::string_view context;  // the words of trireme that it stands for: "bench"; empty: trireme
};

std::string bash_completion(const std::vector<Program>& programs,
                            const std::vector<Completed>& names);
std::string zsh_completion(const std::vector<Program>& programs,
                           const std::vector<Completed>& names);
std::string fish_completion(const std::vector<Program>& programs,
                            const std::vector<Completed>& names);

// Man pages: of trireme, of one of its commands, and of the keys of a case.
std::string front_page(const std::string& version);
std::string program_page(const Program& program, const std::string& version);
std::string case_page(const std::string& version);

// The names of the commands of trireme, "help" included.
std::vector<std::string> command_names();
// The extensions of files with matrices, without the first dot: "mtx", "mtx.gz".
std::vector<std::string> matrix_extensions();
// "solver.rtol", without sections.
std::vector<std::string> key_names();

}  // namespace trireme::pages
