// SPDX-License-Identifier: BSD-3-Clause
// A study for programs: runs.csv and summary.json.
#include <fmt/format.h>

#include <algorithm>

#include "study/json.hpp"
#include "study/render.hpp"

namespace trireme::study {
namespace {

constexpr int kSummarySchema = 1;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json cell_json(const Cell& cell) {
  return {{"figure", optional(cell.figure)}, {"spread", cell.spread},
          {"repetitions", cell.repetitions}, {"ratio", optional(cell.ratio)},
          {"behind", optional(cell.behind)}, {"failure", cell.failure}};
}

Json table_json(const Table& table) {
  Json rows = Json::array(), means = Json::array();
  for (const Row& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row.cells) cells.push_back(cell_json(cell));
    rows.push_back(
        {{"problem", row.label}, {"rows", row.rows}, {"nnz", row.nnz}, {"cells", cells}});
  }
  for (const Mean& m : table.means) {
    const bool some = m.count > 0;
    means.push_back({{"count", m.count},
                     {"geometric_mean", some ? Json(m.geometric) : Json(nullptr)},
                     {"smallest", some ? Json(m.least) : Json(nullptr)},
                     {"largest", some ? Json(m.greatest) : Json(nullptr)},
                     {"best", m.best},
                     {"behind_p95", m.behind_p95},
                     {"behind_worst", m.behind_worst},
                     {"failed", m.failed}});
  }
  return {{"figure", table.figure->name},
          {"unit", table.figure->unit},
          {"problems", rows},
          {"variants", means}};
}

// A field of CSV, in quotes where it needs them (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string json_summary(const Summary& summary) {
  Json tables = Json::array(), failures = Json::array();
  for (const Table& table : summary.tables) tables.push_back(table_json(table));
  for (const Failure& f : summary.failures)
    failures.push_back({{"variant", f.variant}, {"reason", f.reason}, {"problems", f.rows}});
  const Json json = {{"schema", kSummarySchema},
                     {"study", summary.name},
                     {"baseline", summary.baseline},
                     {"speed_up_of", summary.speed_up_of_baseline ? "baseline" : "variants"},
                     {"repeat", summary.repeat},
                     {"runs", summary.runs},
                     {"done", summary.done},
                     {"failed", summary.failed},
                     {"variants", summary.variants},
                     {"figures", tables},
                     {"failures", failures}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_of_runs(const std::vector<Result>& results) {
  std::vector<std::string> keys;
  for (const Result& result : results)
    for (const Setting& s : result.settings)
      if (std::ranges::find(keys, s.key) == keys.end()) keys.push_back(s.key);

  std::string text;
  for (const std::string& key : keys) text += field(key).append(",");
  text +=
      "repetition,failure,exit_code,signal,ran_kernel,ran_ordering,ran_precision,ran_device,rows,"
      "nnz";
  for (const std::string_view figure : figure_names()) {
    const std::string_view unit = find_figure(figure)->unit;
    text += fmt::format(",{}{}{}", figure, unit.empty() ? "" : "_", unit);
  }
  text += ",folder\n";
  for (const Result& result : results) {
    for (const std::string& key : keys) {
      const auto s = std::ranges::find(result.settings, key, &Setting::key);
      if (s != result.settings.end()) text += field(s->text);
      text += ',';
    }
    const Finding& f = result.finding;
    const Ended ended = result.record ? result.record->ended : Ended{};
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}", result.repetition, field(result.failure),
                        ended.exit_code, ended.signal, f.kernel, f.ordering, f.precision, f.device,
                        f.rows, f.nnz);
    for (const std::string_view figure : figure_names()) {
      const auto found = f.figures.find(figure);
      text += found == f.figures.end() ? "," : fmt::format(",{:.6g}", found->second);
    }
    text += ',';
    if (result.record) text += field(result.record->folder.string());
    text += '\n';
  }
  return text;
}

}  // namespace trireme::study
