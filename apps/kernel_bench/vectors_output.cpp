// SPDX-License-Identifier: BSD-3-Clause
// Formats the measurements of products of several vectors.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "kernel_bench/output.hpp"
#include "kernel_bench/vectors.hpp"

namespace trireme::bench {
namespace {

std::string speed_up(double singles_us, double together_us) {
  return fmt::format("{:.2f}x", singles_us / together_us);
}

nlohmann::ordered_json to_json(const VectorsMeasurement& row, const VectorsResults& results) {
  nlohmann::ordered_json json = {{"kernel", row.kernel},
                                 {"device", row.device},
                                 {"precision", row.precision},
                                 {"rows", row.rows},
                                 {"cols", row.cols},
                                 {"nnz", row.nnz},
                                 {"vectors", row.vectors},
                                 {"build_ms", row.build_ms},
                                 {"singles_us", row.singles_us},
                                 {"together_us", nullptr},
                                 {"speed_up_own", nullptr},
                                 {"speed_up_best", nullptr},
                                 {"gbytes_per_s", nullptr},
                                 {"bandwidth_fraction", nullptr},
                                 {"bytes", row.bytes},
                                 {"max_error", row.max_error}};
  if (!row.together_us) return json;
  json["together_us"] = *row.together_us;
  json["speed_up_own"] = row.singles_us / *row.together_us;
  json["speed_up_best"] = results.best_singles()->singles_us / *row.together_us;
  json["gbytes_per_s"] = row.gbytes_per_s();
  json["bandwidth_fraction"] = row.gbytes_per_s() / results.bandwidth.gbytes_per_s;
  return json;
}

}  // namespace

const VectorsMeasurement* VectorsResults::best_singles() const {
  const auto best = std::ranges::min_element(rows, {}, &VectorsMeasurement::singles_us);
  return best == rows.end() ? nullptr : &*best;
}

std::string format_vectors_table(const VectorsResults& results, const std::string& matrix) {
  std::string table = matrix + "\n";
  const VectorsMeasurement* best = results.best_singles();
  if (!best) return table;
  table += fmt::format("{} x {}, {} nonzeros, {} vectors, {} on {}\n", best->rows, best->cols,
                       best->nnz, best->vectors, best->precision, best->device);
  table += fmt::format("bandwidth: {}\n\n", results.bandwidth.how);
  table += fmt::format("{:<16}{:>9}{:>11}{:>12}{:>8}{:>8}{:>8}{:>7}\n", "kernel", "build ms",
                       "singles us", "together us", "vs own", "vs best", "GB/s", "of bw");
  for (const VectorsMeasurement& row : results.rows) {
    table += fmt::format("{:<16}{:>9.3f}{:>11.2f}", row.kernel, row.build_ms, row.singles_us);
    if (row.together_us)
      table += fmt::format("{:>12.2f}{:>8}{:>8}{:>8.1f}{:>6.0f}%\n", *row.together_us,
                           speed_up(row.singles_us, *row.together_us),
                           speed_up(best->singles_us, *row.together_us), row.gbytes_per_s(),
                           100 * row.gbytes_per_s() / results.bandwidth.gbytes_per_s);
    else
      table += fmt::format("{:>12}{:>8}{:>8}{:>8}{:>7}\n", "-", "-", "-", "-", "-");
  }
  for (const std::string& skipped : results.skipped) table += skipped + "\n";
  return table + fmt::format(
                     "\ntogether: one product of {0} vectors; singles: {0} products of one vector\n"
                     "vs own: the kernel's singles / together; vs best: those of {1} / together\n",
                     best->vectors, best->kernel);
}

void write_vectors_json(const VectorsResults& results, const std::filesystem::path& file) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const VectorsMeasurement& row : results.rows) rows.push_back(to_json(row, results));
  write_json_rows(rows, file);
}

std::string format_vectors_failures(const VectorsResults& results) {
  std::string failures;
  for (const VectorsMeasurement& row : results.rows)
    if (!row.correct())
      failures += fmt::format(
          "{}: wrong product, row {} of vector {} is {:.3g} times its error bound off\n",
          row.kernel, row.worst_row, row.worst_vector, row.max_error);
  return failures;
}

}  // namespace trireme::bench
