// SPDX-License-Identifier: BSD-3-Clause
// What the terminal behind a stream can show.
#pragma once

#include <sys/ioctl.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace trireme {

// The columns of the terminal; 0 where the stream is none. mpirun connects rank 0 to a terminal of
// its own without columns, whatever its output is connected to.
inline std::size_t terminal_columns(std::FILE* stream) {
  winsize size{};
  return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Of text: at least 40 and at most 100 columns, because longer lines are hard to read. 80 where the
// stream is no terminal.
inline std::size_t text_width(std::FILE* stream) {
  constexpr std::size_t usual = 80, least = 40, most = 100;
  const std::size_t columns = terminal_columns(stream);
  return columns == 0 ? usual : std::clamp(columns, least, most);
}

// Whether the terminal has colours and the user wants them (https://no-color.org).
inline bool has_colours(std::FILE* stream) {
  const char *no_color = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  return terminal_columns(stream) > 0 && !(no_color && *no_color) && terminal &&
         std::string_view(terminal) != "dumb";
}

}  // namespace trireme
