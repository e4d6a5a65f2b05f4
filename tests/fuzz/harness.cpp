// SPDX-License-Identifier: BSD-3-Clause
// Checks readers, and ends the process at a finding.
#include "fuzz/harness.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace trireme::fuzz {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void finding(const char* what, const char* message) {
  std::fprintf(stderr, "finding: %s: %s\n", what, message);
  std::abort();
}

// A file of this process, in memory where the system has such a folder. The end of the process
// removes it.
class InputFile {
 public:
  InputFile() {
    const fs::path memory = "/dev/shm";
    std::error_code ignored;
    const fs::path folder = fs::is_directory(memory, ignored) ? memory : fs::temp_directory_path();
    std::string name = (folder / "trireme-fuzz-XXXXXX").string();
    file_ = mkstemp(name.data());
    if (file_ < 0) finding("harness", "there is no place for the input file");
    path_ = name;
  }
  ~InputFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  void hold(const std::uint8_t* bytes, std::size_t size) {
    if (ftruncate(file_, 0) != 0 || pwrite(file_, bytes, size, 0) != static_cast<ssize_t>(size))
      finding("harness", "the input file cannot be written");
  }
  const fs::path& path() const { return path_; }

 private:
  int file_ = -1;
  fs::path path_;
};

}  // namespace

fs::path as_file(const std::uint8_t* bytes, std::size_t size) {
  static InputFile file;
  file.hold(bytes, size);
  return file.path();
}

void must_read_or_refuse(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    const bool expected = error.code() == ExitCode::usage || error.code() == ExitCode::input ||
                          error.code() == ExitCode::resource;
    if (!expected) finding("an error of another code", error.what());
    if (std::string_view(error.what()).find('\n') != std::string_view::npos)
      finding("a message of more than one line", error.what());
  } catch (const std::exception& error) {
    finding("an exception that is no Error", error.what());
  }
}

void must_be_canonical(const CsrMatrix<double>& matrix) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) finding("a matrix was read that is none", what);
  };
  require(std::ssize(matrix.row_ptr) == matrix.rows + 1 && matrix.row_ptr[0] == 0, "row pointers");
  require(matrix.row_ptr[matrix.rows] == std::ssize(matrix.col_idx) &&
              matrix.col_idx.size() == matrix.values.size(),
          "lengths");
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    require(matrix.row_ptr[row] <= matrix.row_ptr[row + 1], "pointers decrease");
    std::int64_t before = -1;
    for (std::int32_t k = matrix.row_ptr[row]; k < matrix.row_ptr[row + 1]; ++k) {
      require(matrix.col_idx[k] > before && matrix.col_idx[k] < matrix.cols, "columns");
      require(std::isfinite(matrix.values[k]), "values");
      before = matrix.col_idx[k];
    }
  }
}

void limit_memory(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace trireme::fuzz
