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
  std::int64_t entries = 0;  // lines with entries that must follow
  std::int64_t lines = 0;    // of the header, with the size line
};

// A fault at a line, which is counted from 1 at the start of the parsed text.
struct Fault {
  std::int64_t line = 0;
  std::string message;
};

// One stored entry; row and column count from 0. The array format sets only the value.
struct Entry {
  std::int32_t row;
  std::int32_t column;
  double value;
};

// The words of the first line behind its signs, which are %% (one % is taken too) behind a byte
// order mark, if any: "MatrixMarket matrix ...". Empty for another line.
std::string_view banner_of(std::string_view line);

// Parses a header that arrives in pieces of whole lines, and keeps none of the text.
class HeaderParser {
 public:
  // Removes the lines of the header from the start of `text`. Returns whether the size line was
  // among them. Throws Fault.
  bool take(std::string_view& text);
  // The header, after take() has returned true. Throws Fault where it has not.
  const Header& header() const;

 private:
  Header header_;
  bool complete_ = false;
};

struct ParsedChunk {
  Array<Entry> entries;
  std::int64_t lines = 0;
  bool has_lower = false, has_upper = false;  // below and above the diagonal
  std::optional<Fault> fault;                 // the first, at which parsing stops
};

// Parses lines of entries, and skips blank lines and comments.
ParsedChunk parse_entries(const Header& header, std::string_view text);

}  // namespace trireme::matrix_market
