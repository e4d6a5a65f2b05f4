// SPDX-License-Identifier: BSD-3-Clause
// The colours and the classes of charts, for the page and for files of their own.
#pragma once

#include <string>

namespace trireme::svg {

// The rules of the page: the colours as properties of :root, light, dark and on paper, then the
// classes in these colours.
std::string page_style();

// The rules of those classes that `content` has, with the colours for paper written out, because
// programs that draw know no properties.
std::string paper_style(const std::string& content);

}  // namespace trireme::svg
