// SPDX-License-Identifier: BSD-3-Clause
// See harness.hpp.
#include "fuzz/harness.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace trireme::fuzz {
namespace {

[[noreturn]] void finding(const char* what, const char* message) {
  std::fprintf(stderr, "finding: %s: %s\n", what, message);
  std::abort();
}

int memory_file() {
  static const int file = memfd_create("fuzz-input", 0);
  if (file < 0) finding("harness", "there is no memory for the input file");
  return file;
}

}  // namespace

std::filesystem::path as_file(const std::uint8_t* bytes, std::size_t size) {
  const int file = memory_file();
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != static_cast<ssize_t>(size))
    finding("harness", "the input file cannot be written");
  return "/proc/self/fd/" + std::to_string(file);
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

void limit_memory(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace trireme::fuzz
