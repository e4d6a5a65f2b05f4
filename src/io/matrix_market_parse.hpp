// SPDX-License-Identifier: BSD-3-Clause
// The grammar of Matrix Market: header, size line, and the entries in a chunk of lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/array.hpp"

namespace trireme::matrix_market {

enum class Format { coordinate, array };
enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  // lines of values that must follow
  std::int64_t lines = 0;    // that the header takes, size line included
};

// A fault at a line, counted from 1 at the start of the text that was parsed.
struct Fault {
  std::int64_t line = 0;
  std::string message;
};

// One stored entry, counted from 0. In the array format only the value is set.
struct Entry {
  std::int32_t row;
  std::int32_t column;
  double value;
};

// Parses a header that arrives as pieces of whole lines, none of which is kept.
class HeaderParser {
 public:
  // Removes from the start of `text` the lines of the header; true when the size line was among
  // them. Throws Fault.
  bool take(std::string_view& text);
  // The header, once take() has returned true. Throws Fault where the text ended before.
  const Header& header() const;

 private:
  Header header_;
  bool complete_ = false;
};

struct ParsedChunk {
  Array<Entry> entries;
  std::int64_t lines = 0;
  bool has_lower = false, has_upper = false;  // below and above the diagonal
  std::optional<Fault> fault;                 // the first, after which parsing stopped
};

// Parses lines of entries; blank lines and comments are passed over.
ParsedChunk parse_entries(const Header& header, std::string_view text);

}  // namespace trireme::matrix_market
