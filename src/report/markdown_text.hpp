// SPDX-License-Identifier: BSD-3-Clause
// Texts of files and programs within Markdown.
#pragma once

#include <string>
#include <string_view>

namespace trireme::markdown {

// The content as text on one line, whatever it contains: no HTML, no link, no cell of its own.
std::string escape(std::string_view content);

}  // namespace trireme::markdown
