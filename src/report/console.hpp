// SPDX-License-Identifier: BSD-3-Clause
// Text for a terminal: wrapped to its width, with colours where it has them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/words.hpp"

namespace trireme {

struct Console {
  std::size_t width = words::kTextWidth;
  bool colours = false;
};

enum class Emphasis { head, good, bad };

// Every text that is added loses what would control the terminal (base/printable.hpp), so that
// the escapes of the colours are the only ones.
class ConsoleText {
 public:
  explicit ConsoleText(Console console) : console_(console) {}

  // An empty line before the next one.
  void blank() { blank_ = true; }
  // One line, as it stands.
  void line(std::string_view text);
  void line(std::string_view text, Emphasis emphasis);
  // Wrapped; further lines begin with two spaces.
  void paragraph(std::string_view text);
  // "albus: converged: ...", wrapped, with emphasis on the first words of the end ("converged").
  void verdict(const std::string& name, const std::string& end, Emphasis emphasis);
  // "distribution      rows, because ...", wrapped below the text. Nothing where the text is empty.
  void fact(std::string_view what, std::string_view text) { fact(what, text, 0); }
  void fact_of_run(std::string_view what, std::string_view text) { fact(what, text, 2); }

  std::size_t width() const { return console_.width; }
  const std::string& text() const { return text_; }

 private:
  void fact(std::string_view what, std::string_view text, std::size_t indent);
  std::string emphasised(std::string_view text, Emphasis emphasis) const;

  void add_line(const std::string& text);

  Console console_;
  std::string text_;
  bool blank_ = false;
};

// At most `most` characters: where a text is longer, it ends with " ..." after a part that a
// semicolon, a comma or a space ends.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace trireme
