// SPDX-License-Identifier: BSD-3-Clause
// Text that names and values of files may be part of, as a terminal may get it: a control character
// would move its cursor, change its title, or more.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace trireme {

// The text with '?' in place of every control character but line ends and tabs, of every mark that
// changes the direction of what follows, and of every byte that is not UTF-8.
std::string printable(std::string_view text);

// The same as one line: '?' stands for a line end too, and a space for a tab.
std::string printable_line(std::string_view text);

// Writes printable(text). Whatever a program shows to people goes through here.
void print_text(std::FILE* stream, std::string_view text);

}  // namespace trireme
