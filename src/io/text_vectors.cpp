// SPDX-License-Identifier: BSD-3-Clause
// One thread parses line by line.
#include "io/text_vectors.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "io/parse_number.hpp"
#include "io/text_chunks.hpp"

namespace trireme {
namespace {

bool separates(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == '\v' || c == '\f';
}

// Puts the numbers of a line into `row`. False where the line holds anything else. A comment and a
// blank line hold none.
bool numbers_of(std::string_view line, std::vector<double>& row) {
  row.clear();
  const char* at = line.data();
  const char* const end = at + line.size();
  while (true) {
    while (at != end && separates(*at)) ++at;
    if (at == end || (row.empty() && (*at == '#' || *at == '%'))) return true;
    double number = 0;
    at = parse_number(at, end, number);
    if (!at || !std::isfinite(number) || (at != end && !separates(*at))) return false;
    row.push_back(number);
  }
}

// Calls visit(line number from 1, line) until it returns false.
template <class Visit>
void for_lines(const std::filesystem::path& path, std::size_t chunk_bytes, Visit visit) {
  TextChunks text(path, chunk_bytes);
  std::string chunk;
  std::int64_t number = 0, line = 0;
  while (text.next(chunk, number)) {
    std::string_view rest = chunk;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      if (!visit(++line, rest.substr(0, end))) return;
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
}

}  // namespace

bool is_text_of_numbers(const std::filesystem::path& path) {
  constexpr std::size_t few_bytes = 4096;
  bool numbers = false;
  try {
    for_lines(path, few_bytes, [&, row = std::vector<double>()](auto, auto line) mutable {
      const bool good = numbers_of(line, row);
      numbers = good && !row.empty();
      return good && row.empty();
    });
  } catch (const Error&) {
    return false;
  }
  return numbers;
}

WholeSystem read_text_vectors(const std::filesystem::path& path) {
  constexpr std::size_t chunk_bytes = 1 << 21;
  WholeSystem system;
  std::vector<double> row;
  for_lines(path, chunk_bytes, [&](std::int64_t line, std::string_view text) {
    if (!numbers_of(text, row))
      fail(ExitCode::input, "{}: line {}: only finite numbers may be here", path.string(), line);
    if (row.empty()) return true;
    if (system.b.empty()) system.b.resize(row.size());
    if (system.b.size() != row.size())
      fail(ExitCode::input, "{}: line {}: {} numbers, but {} in the lines before", path.string(),
           line, row.size(), system.b.size());
    for (std::size_t k = 0; k < row.size(); ++k) system.b[k].push_back(row[k]);
    return true;
  });
  return system;
}

}  // namespace trireme
