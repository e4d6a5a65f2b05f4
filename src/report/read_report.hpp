// SPDX-License-Identifier: BSD-3-Clause
// report.json -> what was written to it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/outcome.hpp"

namespace trireme {

// The content of a report.json. Throws Error{input} for a file that is none.
nlohmann::json parsed_report(const std::filesystem::path& path);

// The outcome of which json_report() has made the file: all figures that it does not compute from
// others. Throws Error{input} for a file that has something else in place of a figure.
CaseOutcome read_report(const std::filesystem::path& path);

}  // namespace trireme
