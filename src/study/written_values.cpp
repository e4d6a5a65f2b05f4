// SPDX-License-Identifier: BSD-3-Clause
// Texts -> values.
#include "study/written_values.hpp"

#include <algorithm>
#include <charconv>

namespace trireme::study {

std::optional<std::int64_t> whole(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> positive(const std::string& text) {
  const auto number = whole(text);
  return number && *number >= 1 && *number <= 100'000 ? number : std::nullopt;
}

std::optional<double> bytes_of(const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = whole(text.substr(0, digits));
  const std::string unit = text.substr(digits);
  if (!number || *number < 1) return std::nullopt;
  const auto bytes = static_cast<double>(*number);
  if (unit == "M" || unit == "MB") return bytes * 1e6;
  if (unit == "G" || unit == "GB") return bytes * 1e9;
  return std::nullopt;
}

std::optional<std::string> not_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::string> with_place_for_ranks(const std::string& text) {
  return text.find("{}") == std::string::npos ? std::nullopt : std::optional(text);
}

}  // namespace trireme::study
