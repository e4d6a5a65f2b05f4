// SPDX-License-Identifier: BSD-3-Clause
// Quotes as a POSIX shell reads them.
#include "command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace trireme::solve {
namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
}

std::string quoted(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? R"('\'')" : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string shell_command(int argc, const char* const* argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) text += (i > 0 ? " " : "") + quoted(argv[i]);
  return text;
}

std::string repeating_command(const std::string& command, int ranks) {
  std::string text;
  if (const char* threads = std::getenv("OMP_NUM_THREADS"))
    text += fmt::format("OMP_NUM_THREADS={} ", quoted(threads));
  if (ranks > 1) text += fmt::format("mpirun -n {} ", ranks);
  return text + command;
}

}  // namespace trireme::solve
