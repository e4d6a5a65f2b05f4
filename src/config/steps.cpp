// SPDX-License-Identifier: BSD-3-Clause
// Puts numbers in place of "{}".
#include "config/steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trireme {
namespace {

std::string with_number(std::string text, std::int64_t number) {
  const std::string digits = std::to_string(number);
  for (std::size_t at = text.find("{}"); at != std::string::npos;
       at = text.find("{}", at + digits.size()))
    text.replace(at, 2, digits);
  return text;
}

std::optional<RightHandSide> with_number(std::optional<RightHandSide> rhs, std::int64_t number) {
  if (!rhs) return rhs;
  if (auto* dataset = std::get_if<Dataset>(&*rhs))
    dataset->name = with_number(dataset->name, number);
  if (auto* vectors = std::get_if<VectorFile>(&*rhs))
    *vectors = {.file = with_number(vectors->file.string(), number),
                .name = with_number(vectors->name, number)};
  return rhs;
}

}  // namespace

std::vector<Step> steps_of(const std::vector<StepEntry>& entries) {
  std::vector<Step> steps;
  for (const StepEntry& entry : entries) {
    const std::int64_t end = entry.from + std::max<std::int64_t>(entry.count, 1);
    for (std::int64_t number = entry.from; number < end; ++number)
      steps.push_back({.file = with_number(entry.file.string(), number),
                       .matrix = with_number(entry.matrix, number),
                       .values = with_number(entry.values, number),
                       .rhs = with_number(entry.rhs, number),
                       .row = entry.count > 0 ? number : -1});
  }
  return steps;
}

std::string name_of(const Step& step) {
  const std::string& matrix = step.values.empty() ? step.matrix : step.values;
  const std::string of_b = step.rhs ? to_string(*step.rhs) : "";
  std::string name = matrix.empty() ? of_b : matrix;
  if (name.empty()) return "as before";
  if (!step.file.empty()) name = fmt::format("{}:{}", step.file.filename().string(), name);
  return name;
}

}  // namespace trireme
