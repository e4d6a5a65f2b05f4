// SPDX-License-Identifier: BSD-3-Clause
// report.json and its schema, from the tables of figures.
#include <fmt/format.h>

#include <algorithm>

#include "report/figures.hpp"
#include "report/report.hpp"

namespace trireme {
namespace {

// The text of a schema: an object that describes others spreads over lines, all else stays on one.
std::string spread(const json::Json& json, const std::string& indent) {
  constexpr std::size_t kShort = 120;
  const bool has_objects = json.is_object() && std::ranges::any_of(json, [](const json::Json& j) {
                             return j.is_object();
                           });
  std::string line = json.dump();
  if (!has_objects || line.size() <= kShort) return line;
  std::string text;
  for (const auto& [key, value] : json.items())
    text += fmt::format("{}\n{}  {}: {}", text.empty() ? "{" : ",", indent, json::Json(key).dump(),
                        spread(value, indent + "  "));
  return text + "\n" + indent + "}";
}

}  // namespace

std::string json_report(const CaseOutcome& outcome) {
  // File names need not be UTF-8; JSON must be.
  return json::object_of(outcome).dump(1, ' ', false, json::Json::error_handler_t::replace) + "\n";
}

std::string report_schema() {
  json::Json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", fmt::format("A Trireme report, schema {}", json::kSchema)},
      {"description", "report.json as solve writes it. Null: not known, or not a number."}};
  schema.update(json::schema_of_object<CaseOutcome>());
  return spread(schema, "") + "\n";
}

}  // namespace trireme
