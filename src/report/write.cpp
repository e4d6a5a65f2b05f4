// SPDX-License-Identifier: BSD-3-Clause
// All files are complete under temporary names before the first one is renamed.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/staged_file.hpp"
#include "report/report.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void unwritable(const fs::path& directory, std::string_view why) {
  fail(ExitCode::usage, "report directory '{}' cannot be written: {}; choose another with --output",
       directory.string(), why);
}

struct Report {
  const char* name;
  std::string (*text)(const CaseOutcome&);
};

Report report_of(ReportFormat format) {
  switch (format) {
    case ReportFormat::csv:
      return {"history.csv", csv_history};
    case ReportFormat::html:
      return {"report.html", html_report};
    case ReportFormat::markdown:
      return {"report.md", markdown_report};
    case ReportFormat::json:
      break;
  }
  return {"report.json", json_report};
}

}  // namespace

void check_writable(const fs::path& directory) {
  if (directory.empty()) unwritable(directory, "its name is empty");
  // The part that exists must be a folder in which entries can be made.
  fs::path existing = fs::absolute(directory);
  std::error_code error;
  while (!fs::exists(existing, error) && !error && existing.has_relative_path())
    existing = existing.parent_path();
  if (error) unwritable(directory, error.message());
  if (!fs::is_directory(existing))
    unwritable(directory, fmt::format("'{}' is not a folder", existing.string()));
  // Permission bits do not tell whether a mount is read-only or maps users, so an entry is made.
  std::string probe = existing / ".trireme-XXXXXX";
  if (!mkdtemp(probe.data()))
    unwritable(directory,
               fmt::format("'{}': {}", existing.string(), std::generic_category().message(errno)));
  rmdir(probe.c_str());
}

std::vector<fs::path> report_files(std::span<const ReportFormat> formats,
                                   const fs::path& directory) {
  std::vector<fs::path> files;
  for (const ReportFormat format : formats) files.push_back(directory / report_of(format).name);
  return files;
}

std::vector<fs::path> write_reports(const CaseOutcome& outcome,
                                    std::span<const ReportFormat> formats,
                                    const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) unwritable(directory, error.message());

  std::vector<StagedFile> files;
  for (const ReportFormat format : formats) {
    const Report report = report_of(format);
    files.emplace_back(directory / report.name).write(report.text(outcome));
  }
  std::vector<fs::path> written;
  for (StagedFile& file : files) {
    file.commit();
    written.push_back(file.path());
  }
  return written;
}

}  // namespace trireme
