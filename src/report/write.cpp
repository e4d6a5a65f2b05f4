// SPDX-License-Identifier: BSD-3-Clause
// Report files: temporary names first, renamed when all are complete.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error.hpp"
#include "report/report.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

// Files under their temporary names; those not kept are removed.
class Staged {
 public:
  Staged() = default;
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  ~Staged() {
    std::error_code ignored;
    for (const auto& [temporary, final_name] : files_) fs::remove(temporary, ignored);
  }

  void write(const fs::path& path, const std::string& text) {
    fs::path temporary = path;
    temporary += ".tmp";
    files_.emplace_back(temporary, path);
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file)
      fail(ExitCode::resource,
           "{}: cannot be written ({}); free some space or change "
           "report.directory",
           temporary.string(), std::strerror(errno));
  }

  std::vector<fs::path> keep() {
    std::vector<fs::path> kept;
    for (const auto& [temporary, path] : files_) {
      std::error_code error;
      fs::rename(temporary, path, error);
      if (error)
        fail(ExitCode::usage, "{}: cannot be replaced ({})", path.string(), error.message());
      kept.push_back(path);
    }
    files_.clear();
    return kept;
  }

 private:
  std::vector<std::pair<fs::path, fs::path>> files_;
};

[[noreturn]] void unwritable(const fs::path& directory, std::string_view why) {
  fail(ExitCode::usage, "report directory '{}' cannot be written: {}; choose another with --output",
       directory.string(), why);
}

}  // namespace

void check_writable(const fs::path& directory) {
  if (directory.empty()) unwritable(directory, "its name is empty");
  // The part that exists must be a folder in which we may make entries; the rest can be made then.
  fs::path existing = fs::absolute(directory);
  std::error_code error;
  while (!fs::exists(existing, error) && !error && existing.has_relative_path())
    existing = existing.parent_path();
  if (error) unwritable(directory, error.message());
  if (!fs::is_directory(existing))
    unwritable(directory, fmt::format("'{}' is not a folder", existing.string()));
  // Trying is the only sure way: permission bits say nothing about read-only or squashed mounts.
  std::string probe = existing / ".trireme-XXXXXX";
  if (!mkdtemp(probe.data()))
    unwritable(directory, fmt::format("'{}': {}", existing.string(), std::strerror(errno)));
  rmdir(probe.c_str());
}

std::vector<fs::path> write_reports(const Outcome& outcome, std::span<const std::string> formats,
                                    const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) unwritable(directory, error.message());

  Staged files;
  for (const std::string& format : formats) {
    if (format == "json")
      files.write(directory / "report.json", json_report(outcome));
    else if (format == "csv")
      files.write(directory / "history.csv", csv_history(outcome));
    else if (format == "html")
      files.write(directory / "report.html", html_report(outcome));
    else
      fail(ExitCode::usage, "unknown report format '{}'; known: json, csv, html", format);
  }
  return files.keep();
}

}  // namespace trireme
