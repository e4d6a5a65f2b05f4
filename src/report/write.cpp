// SPDX-License-Identifier: BSD-3-Clause
// All files are complete under temporary names before the first one is renamed.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/staged_file.hpp"
#include "report/report.hpp"
#include "report/svg_charts.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void unwritable(const fs::path& directory, std::string_view why,
                             std::string_view option = "--output") {
  fail(ExitCode::usage, "report directory '{}' cannot be written: {}; choose another with {}",
       directory.string(), why, option);
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

struct NamedText {
  std::string name, text;
};

std::vector<fs::path> write_all(const std::vector<NamedText>& texts, const fs::path& directory,
                                std::string_view option) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) unwritable(directory, error.message(), option);
  std::vector<StagedFile> files;
  for (const NamedText& text : texts) files.emplace_back(directory / text.name).write(text.text);
  std::vector<fs::path> written;
  for (StagedFile& file : files) {
    file.commit();
    written.push_back(file.path());
  }
  return written;
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
  std::vector<NamedText> texts;
  for (const ReportFormat format : formats) {
    const Report report = report_of(format);
    texts.push_back({report.name, report.text(outcome)});
  }
  return write_all(texts, directory, "--output");
}

std::vector<fs::path> write_figures(const CaseOutcome& outcome, const fs::path& directory) {
  std::vector<NamedText> texts;
  for (const svg::Chart& chart : svg::charts(outcome, svg::Amount::all)) {
    texts.push_back({chart.id + ".svg", svg::file(chart)});
    texts.push_back({chart.id + ".csv", chart.csv});
  }
  return write_all(texts, directory, "--figures");
}

}  // namespace trireme
