// SPDX-License-Identifier: BSD-3-Clause
// Sentences and cells about a hierarchy.
#include "report/multigrid_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/text_table.hpp"
#include "report/convergence.hpp"
#include "report/words.hpp"

namespace trireme::words {

std::array<std::string, kLevelHeads.size()> level_cells(const RunOutcome& run, std::size_t k) {
  const LevelOutcome& level = run.multigrid->levels[k];
  const bool shared = !level.replicated || run.ranks == 1;
  return {std::to_string(k),
          std::to_string(level.rows),
          count(level.nnz),
          level.prolongator.empty() ? "-" : level.prolongator,
          shared ? std::to_string(run.ranks) : "each",
          level.kernel,
          level.precision == Precision::mixed ? "FP32" : "FP64",
          level.product_us > 0 ? seconds(level.product_us * 1e-6) : "-"};
}

std::string hierarchy(const RunOutcome& run) {
  const MultigridOutcome& m = *run.multigrid;
  std::string text = fmt::format(
      "multigrid: {} level{}, operator complexity {:.2f}, grid complexity {:.2f}, {}; {}, {}",
      m.levels.size(), m.levels.size() == 1 ? "" : "s", m.operator_complexity, m.grid_complexity,
      bytes(static_cast<double>(m.bytes)), m.cycle, m.smoother);
  if (const auto factor = convergence_factor(run.history))
    text += fmt::format("; convergence factor {:.2f}", *factor);
  if (!m.remark.empty()) text += "; " + m.remark;
  return text;
}

std::string set_up(const MultigridOutcome& m) {
  const MultigridSetUp& s = m.set_up;
  std::vector<std::string> shown;
  for (const auto& [name, time] : parts(s))
    if (time > 0 && time >= 0.005 * s.total)
      shown.push_back(fmt::format("{} {}", name, seconds(time)));
  std::string text = fmt::format("its set-up took {}{}{}", seconds(s.total),
                                 shown.empty() ? "" : ": ", fmt::join(shown, ", "));
  if (m.read)
    text += fmt::format("; the cache had the hierarchy ({}), which saved {}",
                        bytes(static_cast<double>(m.read->bytes)), seconds(m.read->saved_seconds));
  if (m.kept)
    text += fmt::format("; the cache has taken the hierarchy ({}) for later runs in {}",
                        bytes(static_cast<double>(m.kept->bytes)), seconds(m.kept->seconds));
  return text;
}

std::vector<std::string> level_table(const RunOutcome& run, std::size_t width) {
  // What leaves a narrow table first: whose rows it has, the values, the nonzeros, and so on.
  constexpr std::array<int, kLevelHeads.size()> goes = {0, 0, 3, 4, 1, 5, 2, 6};
  std::vector<TextColumn> columns;
  for (std::size_t c = 0; c < kLevelHeads.size(); ++c)
    columns.push_back({.cells = {std::string(kLevelHeads[c])}, .goes = goes[c]});
  for (std::size_t k = 0; k < run.multigrid->levels.size(); ++k) {
    const auto cells = level_cells(run, k);
    for (std::size_t c = 0; c < cells.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  return table_lines(std::move(columns), width, 2);
}

}  // namespace trireme::words
