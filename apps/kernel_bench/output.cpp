// SPDX-License-Identifier: BSD-3-Clause
// Formats the table, the JSON file and the failures. The columns of the table are the kernel, the
// time of its build, the time of a warm and of a cold product, the rates of the warm product in
// GFLOP/s and GB/s, its fraction of the measured bandwidth, the speed-up over the baseline, and the
// number of products after which the build has paid for itself.
#include "kernel_bench/output.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

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

std::string format_table(const Results& results, const std::string& matrix) {
  const Measurement* baseline = baseline_of(results);
  std::string table = matrix + "\n";
  if (!results.rows.empty()) {
    const Measurement& first = results.rows.front();
    table += fmt::format("{} x {}, {} nonzeros, {} on {}\n", first.rows, first.cols, first.nnz,
                         first.precision, first.device);
  }
  table += fmt::format("bandwidth: {}\n\n", results.bandwidth.how);
  table += fmt::format("{:<16}{:>9}{:>11}{:>10}{:>10}{:>9}{:>8}{:>7}{:>9}{:>11}\n", "kernel",
                       "build ms", "median us", "p05 us", "cold us", "GFLOP/s", "GB/s", "of bw",
                       "speed-up", "pays after");
  for (const Measurement& row : results.rows) {
    const std::string speed_up =
        baseline ? fmt::format("{:.2f}x", baseline->median_us / row.median_us) : "-";
    table += fmt::format(
        "{:<16}{:>9.3f}{:>11.2f}{:>10.2f}{:>10.2f}{:>9.2f}{:>8.1f}{:>6.0f}%{:>9}{:>11}\n",
        row.kernel, row.build_ms, row.median_us, row.p05_us, row.cold_us, row.gflops,
        row.gbytes_per_s, 100 * row.bandwidth_fraction, speed_up, format_break_even(row));
  }
  table += format_updates(results);
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
