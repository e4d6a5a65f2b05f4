// SPDX-License-Identifier: BSD-3-Clause
// The decisions that both TEB builders take on the host, from the row lengths alone, before they
// copy entries.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/teb/threshold.hpp"
#include "kernels/teb/tuning.hpp"

namespace trireme::teb {

struct Plan {
  Threshold threshold;
  std::int64_t long_rows = 0;  // rows longer than the threshold
  std::int64_t empty_rows = 0;
  std::int64_t panel_rows = 1;  // a power of two

  std::int64_t panels(std::int64_t rows) const { return (rows + panel_rows - 1) / panel_rows; }
};

inline std::int64_t choose_panel_rows(std::int64_t rows, std::int64_t nnz) {
  const std::int64_t wanted =
      kPanelNonzeros * std::max<std::int64_t>(rows, 1) / std::max<std::int64_t>(nnz, 1);
  const auto power = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(wanted, 1))));
  return std::clamp(power, kMinPanelRows, kMaxPanelRows);
}

inline Plan make_plan(std::int64_t rows, const RowRuns& runs, const Threshold& threshold) {
  Plan plan{threshold, 0, rows, choose_panel_rows(rows, nonzeros(runs))};
  for (const Run& run : runs) {
    plan.empty_rows -= run.rows;
    if (run.length > threshold.nonzeros) plan.long_rows += run.rows;
  }
  return plan;
}

inline Plan make_plan(std::int64_t rows, const RowRuns& runs) {
  const std::int64_t mean = std::clamp(nonzeros(runs) / kWantedBlocks, kMinNonzeros, kMaxNonzeros);
  return make_plan(rows, runs, select_threshold(runs, mean, kMaxNonzeros));
}

}  // namespace trireme::teb
