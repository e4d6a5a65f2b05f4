// SPDX-License-Identifier: BSD-3-Clause
// case.yaml -> Case: strict, every error with its place in the file and what was probably meant.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "config/case.hpp"

namespace trireme {

// A key set from outside the file. The value is YAML: "1e-10", "[csr, albus]", "results/a".
struct Override {
  std::string key;  // "solver.rtol", "petsc.ksp_monitor"
  std::string value;
  std::string origin;  // for messages: "--set solver.rtol=1e-10"
};

// "solver.rtol=1e-10", as it stands after --set. Throws Error{usage} when there is no '='.
Override parse_override(std::string_view assignment);

// The case in a file, with the overrides applied in order (the last one wins) and all of it
// validated. Unknown, misspelt, mistyped, duplicate and contradictory keys throw Error{usage} with
// file:line:column and the nearest valid key. Touches no file but this one. Not collective: wrap it
// in collectively() where ranks read on their own.
Case read_case(const std::filesystem::path& path, std::span<const Override> overrides = {});

// The same from text; `path` gives the name in messages and the folder for problem.file.
Case parse_case(const std::string& text, const std::filesystem::path& path,
                std::span<const Override> overrides = {});

}  // namespace trireme
