// SPDX-License-Identifier: BSD-3-Clause
// The roofline model of Williams, Waterman and Patterson, "Roofline: an insightful visual
// performance model for multicore architectures" (CACM 52(4), 2009), without the flat roof, which
// sparse products do not reach.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::svg {
namespace {

bool has_rates(const RunOutcome& run) {
  return std::isfinite(run.gflops) && run.gflops > 0 && std::isfinite(run.gbytes_per_s) &&
         run.gbytes_per_s > 0;
}

Point place_of(const RunOutcome& run) { return {run.gflops / run.gbytes_per_s, run.gflops}; }

}  // namespace

Roof roof_of(const CaseOutcome& outcome) {
  const MachineDescription& machine = outcome.machine;
  const bool on_gpu = outcome.runs.front().device == Device::cuda;
  const double memory = on_gpu ? machine.gpu_gbytes_per_s : machine.best_gbytes_per_s;
  if (memory > 0) return {.gbytes_per_s = memory, .of_small_arrays = false};
  const double caches = on_gpu ? machine.gpu_in_cache_gbytes_per_s : machine.in_cache_gbytes_per_s;
  return {.gbytes_per_s = caches, .of_small_arrays = caches > 0};
}

Chart roofline(const CaseOutcome& outcome) {
  double left = std::numeric_limits<double>::infinity(), right = 0, low = left, high = 0;
  std::string description;
  for (const RunOutcome& run : outcome.runs) {
    if (!has_rates(run)) continue;
    const Point p = place_of(run);
    left = std::min(left, p.x);
    right = std::max(right, p.x);
    low = std::min(low, p.y);
    high = std::max(high, p.y);
    description +=
        fmt::format("{}: {:.3g} GFLOP/s at {:.3g} flop per byte. ", label(run), p.y, p.x);
  }
  if (right <= 0) return {};
  const auto [roof, of_small_arrays] = roof_of(outcome);
  const char* giver = of_small_arrays ? "arrays of this size" : "memory";
  if (roof > 0) description += fmt::format("The roof, of {}: {:.4g} GB/s. ", giver, roof);
  const Scale x = Scale::logarithmic(left / 1.8, right * 1.8);
  if (roof > 0) {
    low = std::min(low, roof * x.low());
    high = std::max(high, roof * x.high());
  }
  Frame frame({.id = "roofline",
               .title = "Roofline",
               .description = description,
               .x = "operations per byte, flop/B",
               .y = "GFLOP/s of the product"},
              x, Scale::logarithmic(low / 1.2, high * 1.2));
  if (roof > 0) {
    const Point from{frame.x(x.low()), frame.y(roof * x.low())};
    const Point to{frame.x(x.high()), frame.y(roof * x.high())};
    frame.add(line("roof", from.x, from.y, to.x, to.y));
    // Above the roof, and within the frame: a character is about 6.2 wide.
    const std::string name = fmt::format("{}: {:.4g} GB/s", giver, roof);
    const double end =
        std::max(0.6 * from.x + 0.4 * to.x, from.x + 4 + 6.2 * static_cast<double>(name.size()));
    const double height = from.y + (to.y - from.y) * (end - from.x) / (to.x - from.x);
    frame.add(text("note", end - 6, height - 6, "end", name));
  }
  Csv csv("kernel,flop_per_byte,gflops,roof_gbytes_per_s");
  for (std::size_t r = 0; r < outcome.runs.size(); ++r) {
    if (!has_rates(outcome.runs[r])) continue;
    const Point place = place_of(outcome.runs[r]);
    frame.mark(r, place);
    csv.row(label(outcome.runs[r]), place.x, place.y, roof);
  }
  return frame.chart(words::labels(outcome), csv);
}

}  // namespace trireme::svg
