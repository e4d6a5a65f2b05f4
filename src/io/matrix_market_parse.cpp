// SPDX-License-Identifier: BSD-3-Clause
// Parses lines without copying them.
#include "io/matrix_market_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <sstream>

#include "io/parse_number.hpp"

namespace trireme::matrix_market {
namespace {

constexpr const char* not_matrix_market =
    "not a Matrix Market file: it must begin with %%MatrixMarket matrix";
constexpr std::int64_t max_rows = std::numeric_limits<std::int32_t>::max();

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// A position within one line, which ends with '\n' or with the text.
class Cursor {
 public:
  Cursor(const char* at, const char* end) : at_(at), end_(end) {}

  void skip_blanks() {
    while (at_ != end_ && blank(*at_)) ++at_;
  }
  bool at_line_end() {
    skip_blanks();
    return at_ == end_ || *at_ == '\n';
  }
  bool at_comment() const { return at_ != end_ && *at_ == '%'; }
  // Reads 1 to 18 digits. False for any other word.
  bool count(std::int64_t& value) {
    skip_blanks();
    const char* const first = at_;
    std::uint64_t digits = 0;
    for (; at_ != end_; ++at_) {
      const unsigned digit = static_cast<unsigned char>(*at_) - unsigned{'0'};
      if (digit > 9) break;
      digits = digits * 10 + digit;
    }
    value = static_cast<std::int64_t>(digits);
    return at_ != first && at_ - first <= 18 && ends_word();
  }
  bool number(double& value) {
    skip_blanks();
    const char* const next = parse_number(at_, end_, value);
    if (!next) return false;
    at_ = next;
    return ends_word() && std::isfinite(value);
  }

 private:
  bool ends_word() const { return at_ == end_ || blank(*at_) || *at_ == '\n'; }

  const char* at_;
  const char* end_;
};

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool comment_or_blank(std::string_view line) {
  const auto first = std::find_if_not(line.begin(), line.end(), blank);
  return first == line.end() || *first == '%';
}

// "%%MatrixMarket matrix coordinate real general", in any case.
void parse_banner(std::string_view line, Header& header) {
  std::string lower(banner_of(line));
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::istringstream words(lower);
  std::string banner, object, format, field, symmetry;
  words >> banner >> object >> format >> field >> symmetry;
  if (banner != "matrixmarket" || object != "matrix") throw Fault{1, not_matrix_market};
  if (format == "coordinate")
    header.format = Format::coordinate;
  else if (format == "array")
    header.format = Format::array;
  else
    throw Fault{1, fmt::format("unknown format \"{}\"; coordinate or array", format)};
  if (field == "complex" || symmetry == "hermitian")
    throw Fault{1, "complex and hermitian matrices are not supported; give the real form"};
  if (field == "real" || field == "double")
    header.field = Field::real;
  else if (field == "integer")
    header.field = Field::integer;
  else if (field == "pattern" && header.format == Format::coordinate)
    header.field = Field::pattern;
  else
    throw Fault{1, fmt::format("unknown field \"{}\"; real, integer or pattern", field)};
  if (symmetry == "general")
    header.symmetry = Symmetry::general;
  else if (symmetry == "symmetric")
    header.symmetry = Symmetry::symmetric;
  else if (symmetry == "skew-symmetric")
    header.symmetry = Symmetry::skew;
  else
    throw Fault{
        1, fmt::format("unknown symmetry \"{}\"; general, symmetric or skew-symmetric", symmetry)};
}

// "rows cols entries", or "rows cols" of an array.
void parse_size(std::string_view line, Header& header) {
  Cursor cursor(line.data(), line.data() + line.size());
  bool good = cursor.count(header.rows) && cursor.count(header.cols);
  if (header.format == Format::coordinate) good = good && cursor.count(header.entries);
  if (!good || !cursor.at_line_end())
    throw Fault{header.lines,
                fmt::format("the size line must be {}", header.format == Format::coordinate
                                                            ? "rows, columns, entries"
                                                            : "rows, columns")};
  if (header.rows > max_rows || header.cols > max_rows)
    throw Fault{header.lines, fmt::format("{} x {} is too large; at most 2^31-1 rows and columns",
                                          header.rows, header.cols)};
  if (header.symmetry != Symmetry::general && header.rows != header.cols)
    throw Fault{header.lines, fmt::format("{} x {} cannot be symmetric", header.rows, header.cols)};
  if (header.format == Format::coordinate) return;
  const std::int64_t n = header.rows;
  header.entries = header.symmetry == Symmetry::general     ? n * header.cols
                   : header.symmetry == Symmetry::symmetric ? n * (n + 1) / 2
                                                            : n * (n - 1) / 2;
}

// Adds an entry to the chunk. Returns null, or the message of the fault in the entry.
const char* parse_entry(const Header& header, Cursor& cursor, ParsedChunk& chunk) {
  Entry entry{0, 0, 1.0};
  if (header.format == Format::coordinate) {
    std::int64_t row = 0, column = 0;
    if (!cursor.count(row) || !cursor.count(column)) return "row and column must be whole numbers";
    if (row < 1 || row > header.rows) return "the row is out of range, counted from 1";
    if (column < 1 || column > header.cols) return "the column is out of range, counted from 1";
    entry.row = static_cast<std::int32_t>(row - 1);
    entry.column = static_cast<std::int32_t>(column - 1);
    chunk.has_lower |= row > column;
    chunk.has_upper |= row < column;
  }
  if (header.field != Field::pattern && !cursor.number(entry.value))
    return "the value must be a finite number";
  if (header.symmetry == Symmetry::skew && header.format == Format::coordinate &&
      entry.row == entry.column && entry.value != 0)
    return "a skew-symmetric matrix has no diagonal entries but zeros";
  if (!cursor.at_line_end()) return "there is more on the line than an entry";
  chunk.entries.push_back(entry);
  return nullptr;
}

}  // namespace

std::string_view banner_of(std::string_view line) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (!line.starts_with('%')) return {};
  line.remove_prefix(line.starts_with("%%") ? 2 : 1);
  return line;
}

bool HeaderParser::take(std::string_view& text) {
  while (!text.empty() && !complete_) {
    const std::string_view line = take_line(text);
    ++header_.lines;
    if (header_.lines == 1) {
      parse_banner(line, header_);
    } else if (!comment_or_blank(line)) {
      parse_size(line, header_);
      complete_ = true;
    }
  }
  return complete_;
}

const Header& HeaderParser::header() const {
  if (header_.lines == 0) throw Fault{1, not_matrix_market};
  if (!complete_) throw Fault{header_.lines, "the file ends before the size line"};
  return header_;
}

ParsedChunk parse_entries(const Header& header, std::string_view text) {
  ParsedChunk chunk;
  chunk.entries.reserve(std::count(text.begin(), text.end(), '\n') + 1);
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    ++chunk.lines;
    const void* newline = std::char_traits<char>::find(at, end - at, '\n');
    const char* const line_end = newline ? static_cast<const char*>(newline) : end;
    Cursor cursor(at, line_end);
    if (!cursor.at_line_end() && !cursor.at_comment()) {
      if (const char* message = parse_entry(header, cursor, chunk)) {
        chunk.fault = Fault{chunk.lines, message};
        return chunk;
      }
    }
    at = line_end == end ? end : line_end + 1;
  }
  if (chunk.entries.size() < chunk.entries.capacity() / 2) chunk.entries.shrink_to_fit();
  return chunk;
}

}  // namespace trireme::matrix_market
