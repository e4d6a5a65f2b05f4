// SPDX-License-Identifier: BSD-3-Clause
// Walks through the characters of UTF-8.
#include "base/printable.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace trireme {
namespace {

struct Character {
  std::uint32_t code;
  std::size_t bytes;
};

constexpr std::uint32_t kNotUtf8 = 0xffffffff;

// The first character of a text that is not empty.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {kNotUtf8, 1};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return {kNotUtf8, 1};
    code = code << 6 | (byte(k) & 0x3fu);
  }
  return {code, bytes};
}

bool is_shown(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !control && !direction && code != kNotUtf8;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character c = first_of(text);
    if (is_shown(c.code) || c.code == '\n' || c.code == '\t')
      shown += text.substr(0, c.bytes);
    else
      shown += '?';
    text.remove_prefix(c.bytes);
  }
  return shown;
}

std::string printable_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', '?');
  std::ranges::replace(line, '\t', ' ');
  return line;
}

void print_text(std::FILE* stream, std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stream);
}

}  // namespace trireme
