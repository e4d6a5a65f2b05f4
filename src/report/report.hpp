// SPDX-License-Identifier: BSD-3-Clause
// CaseOutcome -> what people read: a table on the terminal and files in the report directory.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/console.hpp"
#include "report/outcome.hpp"

namespace trireme {

// Throws Error{usage} where files cannot be made in `directory`, which need not exist yet. Leaves
// nothing on disk. To be called before any work whose results would be lost.
void check_writable(const std::filesystem::path& directory);

// Where write_reports() writes.
std::vector<std::filesystem::path> report_files(std::span<const ReportFormat> formats,
                                                const std::filesystem::path& directory);

// Writes each of `formats` (json -> report.json, csv -> history.csv, html -> report.html, markdown
// -> report.md), making the directory when missing, and returns the paths. All texts are written
// under temporary names first and renamed last; on failure the temporary files are removed and the
// old reports stand. Throws Error{usage} where the directory cannot be made, Error{resource} where
// the disk is full.
std::vector<std::filesystem::path> write_reports(const CaseOutcome& outcome,
                                                 std::span<const ReportFormat> formats,
                                                 const std::filesystem::path& directory);

// Writes each chart of the page as ID.svg and its numbers, all of them, as ID.csv, in the manner of
// write_reports().
std::vector<std::filesystem::path> write_figures(const CaseOutcome& outcome,
                                                 const std::filesystem::path& directory);

// The kernels side by side, with units in the head, and below them a line for each fact about a run
// and about the case. Fits the width of the console: the least important columns are left out, and
// long facts end with "...". Ready to be written: it has no control characters but line ends and
// the escapes of its colours.
std::string terminal_table(const CaseOutcome& outcome, Console console = {});

// The file contents, each ending with a newline.
std::string json_report(const CaseOutcome& outcome);
std::string csv_history(const CaseOutcome& outcome);      // kernel,iteration,relative_residual
std::string html_report(const CaseOutcome& outcome);      // one page without external parts
std::string markdown_report(const CaseOutcome& outcome);  // tables for issues and pull requests

// What json_report() may write: configs/report.schema.json.
std::string report_schema();

}  // namespace trireme
