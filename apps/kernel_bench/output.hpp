// SPDX-License-Identifier: BSD-3-Clause
// The measurements as a table for people and as JSON for programs.
#pragma once

#include <filesystem>
#include <string>

#include "kernel_bench/measurement.hpp"

namespace trireme::bench {

// At most 100 columns, with units; `matrix` names what was multiplied.
std::string format_table(const Results& results, const std::string& matrix);

// An array with one object per kernel: see docs/reports.md. Throws Error{usage} when it cannot be
// written.
void write_json(const Results& results, const std::filesystem::path& file);

// One line a kernel whose product was wrong, empty when all are right.
std::string format_failures(const Results& results);

}  // namespace trireme::bench
