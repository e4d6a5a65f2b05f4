// SPDX-License-Identifier: BSD-3-Clause
// case.yaml -> Case. Every error names its place in the file and what was probably meant.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/case.hpp"

namespace trireme {

// The path of a case that comes from there; names of files are relative to the current directory.
inline constexpr const char* kStandardInput = "standard input";

// A key set from outside the file. The value is YAML: "1e-10", "[csr, albus]", "results/a".
struct Override {
  std::string key;  // "solver.rtol", "petsc.ksp_monitor"
  std::string value;
  std::string origin;  // for messages: "--set solver.rtol=1e-10"
  // To which the name of a file is relative. Empty: to the folder of the case.
  std::optional<std::filesystem::path> folder = {};
};

// `assignment`: what follows --set, such as "solver.rtol=1e-10". Throws Error{usage} where it has
// no '='.
Override parse_override(std::string_view assignment);

// Sets `key` to the text as it stands, whatever it would be in YAML.
Override text_override(std::string key, const std::string& text, std::string origin);

// What replaces keys of the case in a file, in this order: a later change wins.
struct Changes {
  std::vector<std::filesystem::path>
      presets;  // YAML files of keys other than problem: see configs/
  std::vector<Override> overrides;
};

// The case in a file with the changes applied and all of it validated. Unknown, misspelt, mistyped,
// duplicate and contradictory keys throw Error{usage} with file:line:column and the nearest valid
// key. Reads the files of the case and the presets only. Not collective: wrap it in collectively().
Case read_case(const std::filesystem::path& path, const Changes& changes = {});

// The text of the file, which is `what`: "case file" or "preset". Throws Error{usage} for a file
// that cannot be read, and for one that is too large to be a case.
std::string read_case_text(const std::filesystem::path& path, std::string_view what = "case file");
// The same for standard input, which is read to its end.
std::string read_case_text(std::istream& input);

// Likewise for a case in `text`. `path` gives the name in messages and the folder of problem.file.
Case parse_case(const std::string& text, const std::filesystem::path& path,
                const Changes& changes = {});

}  // namespace trireme
