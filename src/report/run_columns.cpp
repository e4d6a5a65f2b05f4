// SPDX-License-Identifier: BSD-3-Clause
// The columns, in the order of all three tables.
#include "report/run_columns.hpp"

#include "report/words.hpp"

namespace trireme {
namespace {

using Run = const RunOutcome&;

constexpr RunColumn kRunColumns[] = {
    {nullptr, nullptr, 0, nullptr, "order", [](Run run) { return run.ordering; }},
    {"prepare", "ms", 4, "prepare", "prepare",
     [](Run run) { return words::seconds(words::preprocessing_seconds(run)); },
     [](Run run) { return words::fixed(words::preprocessing_seconds(run) * 1e3, 1); }},
    {"product", "us", 5, "product", "one product,<br>median",
     [](Run run) { return words::seconds(run.kernel_us.median * 1e-6); },
     [](Run run) { return words::fixed(run.kernel_us.median, 1); }},
    {nullptr, nullptr, 0, nullptr, "p95",
     [](Run run) { return words::seconds(run.kernel_us.p95 * 1e-6); }},
    {"product", "GFLOP/s", 3, "GFLOP/s", "GFLOP/s",
     [](Run run) { return words::fixed(run.gflops, 2); }},
    {"product", "GB/s", 1, "GB/s", "GB/s",
     [](Run run) { return words::fixed(run.gbytes_per_s, 1); }},
    {"of memory", "bandwidth", 2, "of bandwidth", "of memory<br>bandwidth",
     [](Run run) {
       return run.bandwidth_fraction ? words::percent(*run.bandwidth_fraction) : "-";
     }},
    {nullptr, nullptr, 0, nullptr, "padding", [](Run run) { return words::percent(run.padding); }},
    {"", "iterations", 0, "iterations", "iterations",
     [](Run run) { return std::to_string(run.iterations); }},
    {"||b-Ax||", "/ ||b||", 0, "true residual", "‖b−Ax‖ / ‖b‖",
     [](Run run) { return words::residual(run.relative_residual); }},
    {nullptr, nullptr, 0, nullptr, "error",
     [](Run run) { return run.relative_error ? words::residual(*run.relative_error) : "-"; }},
    {"solve", "s", 0, "solve", nullptr, [](Run run) { return words::seconds(run.seconds.solve); },
     [](Run run) { return words::fixed(run.seconds.solve, 3); }}};

}  // namespace

std::span<const RunColumn> run_columns() { return kRunColumns; }

std::vector<std::string> run_heads(const char* RunColumn::*file) {
  std::vector<std::string> heads = {"kernel"};
  for (const RunColumn& column : kRunColumns)
    if (column.*file) heads.emplace_back(column.*file);
  return heads;
}

std::vector<std::string> run_cells(const std::string& name, const RunOutcome& run,
                                   const char* RunColumn::*file) {
  std::vector<std::string> cells = {name};
  for (const RunColumn& column : kRunColumns)
    if (column.*file) cells.push_back(column.text(run));
  return cells;
}

}  // namespace trireme
