// SPDX-License-Identifier: BSD-3-Clause
// Formats the measurements as a table for people and as JSON for programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kernel_bench/measurement.hpp"

namespace trireme::bench {

// Returns the table without the columns that `width` has no room for. `matrix` is the name of the
// matrix.
std::string format_table(const Results& results, const std::string& matrix, std::size_t width);

// Writes an array with one object per kernel (docs/reports.md). Throws Error{usage} when the file
// cannot be written.
void write_json(const Results& results, const std::filesystem::path& file);
// Writes the rows of any table. Throws Error{usage} where the file cannot be written.
void write_json_rows(const nlohmann::ordered_json& rows, const std::filesystem::path& file);

// Returns one line per kernel whose product was wrong; empty when all products were right.
std::string format_failures(const Results& results);

}  // namespace trireme::bench
