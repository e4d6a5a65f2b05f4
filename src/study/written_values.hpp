// SPDX-License-Identifier: BSD-3-Clause
// Values of the keys of a study: numbers, sizes and texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "study/settings.hpp"

namespace trireme::study {

// Each is empty for a text that is no such value.
std::optional<std::int64_t> whole(const std::string& text);
std::optional<std::int64_t> positive(const std::string& text);  // 1 to 100000
std::optional<double> bytes_of(const std::string& text);        // "512M", "8GB"
std::optional<std::string> not_empty(const std::string& text);
std::optional<std::string> with_place_for_ranks(const std::string& text);  // has "{}"

// The value of `node`, which is `written` or one of its items. Throws Error{usage} with its place
// where it is not what `what` says: "a whole number".
template <class Parse>
auto parsed(const Written& written, const YAML::Node& node, Parse parse, const char* what) {
  const auto value = node.IsScalar() ? parse(node.Scalar()) : std::nullopt;
  if (!value)
    fail(ExitCode::usage, "{}: {} must be {}{}", written.place(node), written.key, what,
         node.IsScalar() ? fmt::format(", not '{}'", node.Scalar()) : "");
  return *value;
}

// Calls `read` for the value, or for each item where it is a list.
template <class Read>
void for_each_item(const Written& written, Read&& read) {
  if (!written.value.IsSequence()) return read(written.value);
  for (const YAML::Node& item : written.value) read(item);
}

}  // namespace trireme::study
