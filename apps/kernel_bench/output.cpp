// SPDX-License-Identifier: BSD-3-Clause
// Formats the table, the JSON file and the failures. The columns of the table are the kernel, the
// time of its build, the time of a warm and of a cold product, the rates of the warm product in
// GFLOP/s and GB/s, its fraction of the measured bandwidth, the speed-up over the baseline, and the
// number of products after which the build has paid for itself. The JSON file has all of them.
#include "kernel_bench/output.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text_table.hpp"
#include "base/wrap.hpp"

namespace trireme::bench {
namespace {

const Measurement* baseline_of(const Results& results) {
  for (const Measurement& row : results.rows)
    if (row.kernel == results.baseline) return &row;
  return nullptr;
}

// "new values on the same pattern, in products: dasp 1.7, sell 2.9"
std::string format_updates(const Results& results) {
  std::string line;
  for (const Measurement& row : results.rows)
    if (row.update_us)
      line += fmt::format("{} {} {:.1f}", line.empty() ? "" : ",", row.kernel,
                          *row.update_us / row.median_us);
  return line.empty() ? line : "new values on the same pattern, in products:" + line + "\n";
}

std::string format_break_even(const Measurement& row) {
  return row.break_even_products ? fmt::format("{}", *row.break_even_products) : "never";
}

// Of the columns that do not fit, the one with the lowest number goes first.
std::string format_rows(const Results& results, const Measurement* baseline, std::size_t width) {
  std::vector<TextColumn> columns;
  const auto add = [&](const std::string& head, int goes, const auto& cell) {
    TextColumn& column = columns.emplace_back();
    column.cells = {head};
    column.goes = goes;
    column.left = columns.size() == 1;
    for (const Measurement& row : results.rows) column.cells.push_back(cell(row));
  };
  add("kernel", 0, [](const auto& row) { return row.kernel; });
  add("build ms", 0, [](const auto& row) { return fmt::format("{:.3f}", row.build_ms); });
  add("median us", 0, [](const auto& row) { return fmt::format("{:.2f}", row.median_us); });
  add("p05 us", 1, [](const auto& row) { return fmt::format("{:.2f}", row.p05_us); });
  add("cold us", 2, [](const auto& row) { return fmt::format("{:.2f}", row.cold_us); });
  add("GFLOP/s", 3, [](const auto& row) { return fmt::format("{:.2f}", row.gflops); });
  add("GB/s", 0, [](const auto& row) { return fmt::format("{:.1f}", row.gbytes_per_s); });
  add("of bw", 0,
      [](const auto& row) { return fmt::format("{:.0f}%", 100 * row.bandwidth_fraction); });
  add("speed-up", 0, [&](const auto& row) {
    return baseline ? fmt::format("{:.2f}x", baseline->median_us / row.median_us) : "-";
  });
  add("pays after", 0, format_break_even);
  std::string text;
  for (const std::string& line : table_lines(std::move(columns), width)) text += line + "\n";
  return text;
}

nlohmann::ordered_json to_json(const Measurement& row) {
  nlohmann::ordered_json json = {{"kernel", row.kernel},
                                 {"device", row.device},
                                 {"precision", row.precision},
                                 {"rows", row.rows},
                                 {"cols", row.cols},
                                 {"nnz", row.nnz},
                                 {"build_ms", row.build_ms},
                                 {"median_us", row.median_us},
                                 {"p05_us", row.p05_us},
                                 {"p95_us", row.p95_us},
                                 {"cold_us", row.cold_us},
                                 {"gflops", row.gflops},
                                 {"gbytes_per_s", row.gbytes_per_s},
                                 {"bandwidth_fraction", row.bandwidth_fraction},
                                 {"bytes", row.bytes},
                                 {"padding", row.padding},
                                 {"max_error", row.max_error},
                                 {"deterministic", row.deterministic},
                                 {"update_us", nullptr},
                                 {"break_even_products", nullptr}};
  if (row.break_even_products) json["break_even_products"] = *row.break_even_products;
  if (row.update_us) json["update_us"] = *row.update_us;
  return json;
}

}  // namespace

std::string format_table(const Results& results, const std::string& matrix, std::size_t width) {
  const Measurement* baseline = baseline_of(results);
  std::string table = matrix + "\n";
  if (!results.rows.empty()) {
    const Measurement& first = results.rows.front();
    table += fmt::format("{} x {}, {} nonzeros, {} on {}\n", first.rows, first.cols, first.nnz,
                         first.precision, first.device);
  }
  table += fmt::format("bandwidth: {}\n\n", results.bandwidth.how);
  table += format_rows(results, baseline, width);
  table += wrap(format_updates(results), width, 2);
  for (const std::string& skipped : results.skipped) table += skipped + "\n";
  if (baseline)
    table += fmt::format("\nspeed-up and 'pays after' (products): against {}\n", baseline->kernel);
  return table;
}

void write_json(const Results& results, const std::filesystem::path& file) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Measurement& row : results.rows) rows.push_back(to_json(row));
  write_json_rows(rows, file);
}

void write_json_rows(const nlohmann::ordered_json& rows, const std::filesystem::path& file) {
  std::ofstream out(file);
  out << rows.dump(1) << '\n';
  if (!out.flush())
    fail(ExitCode::usage, "cannot write '{}'; choose another file with --json", file.string());
}

std::string format_failures(const Results& results) {
  std::string failures;
  for (const Measurement& row : results.rows)
    if (!row.correct())
      failures += fmt::format("{}: wrong product, row {} is {:.3g} times its error bound off\n",
                              row.kernel, row.worst_row, row.max_error);
  return failures;
}

}  // namespace trireme::bench
