// SPDX-License-Identifier: BSD-3-Clause
// What changed between two runs, from their report.json.
#pragma once

#include <filesystem>
#include <string>

namespace trireme {

// Returns what differs in versions, machine, problem and case, and then the times, iterations and
// residuals of the runs that both reports have, each with the ratio after / before, in lines of at
// most 80 columns. Runs belong together that have the same kernel, precision and device; where
// each report has one run, the two belong together. Reads reports of every schema. Throws
// Error{input} in one line where a file cannot be read or is no report of solve.
std::string compare_reports(const std::filesystem::path& before,
                            const std::filesystem::path& after);

}  // namespace trireme
