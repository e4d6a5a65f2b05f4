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

// Whether the roof is that of small arrays.
bool in_cache(const MachineDescription& machine) {
  return machine.best_gbytes_per_s <= 0 && machine.in_cache_gbytes_per_s > 0;
}

// Of the device of the runs, in GB/s; 0: not measured.
double bandwidth(const CaseOutcome& outcome) {
  const bool on_gpu = outcome.runs.front().device == Device::cuda;
  if (on_gpu) return outcome.machine.gpu_gbytes_per_s;
  return in_cache(outcome.machine) ? outcome.machine.in_cache_gbytes_per_s
                                   : outcome.machine.best_gbytes_per_s;
}

}  // namespace

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
  const double roof = bandwidth(outcome);
  const char* giver = in_cache(outcome.machine) ? "arrays of this size" : "memory";
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
    frame.add(line("roof", frame.x(x.low()), frame.y(roof * x.low()), frame.x(x.high()),
                   frame.y(roof * x.high())));
    const double middle = std::sqrt(x.low() * x.high()) / 1.5;
    frame.add(text("note", frame.x(middle) - 6, frame.y(roof * middle) - 6, "end",
                   fmt::format("{}: {:.4g} GB/s", giver, roof)));
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
