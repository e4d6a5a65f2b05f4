// SPDX-License-Identifier: BSD-3-Clause
// study.yaml, or a folder of cases -> Study. Every error names its place and what was meant.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/read_case.hpp"
#include "study/study.hpp"

namespace trireme::study {

// The study of a file, or of a folder, whose *.yaml are then its cases. A change replaces a key of
// the study ("limit", "baseline.kernel"), or else the values of a key of the case: "kernel",
// "problem.file". A file takes the place of generators, and a generator the place of files. A key
// that ends in '+' adds values instead. Paths in the file are relative to its
// folder, and paths in changes to the current directory. Throws Error{usage} for an unknown,
// misspelt or mistyped key of the study, for a pattern that matches nothing and for a baseline that
// is no key of any run. Keys of the case are checked by expand().
Study read_study(const std::filesystem::path& path, const std::vector<Override>& changes = {});

}  // namespace trireme::study
