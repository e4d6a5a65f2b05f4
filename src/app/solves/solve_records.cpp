// SPDX-License-Identifier: BSD-3-Clause
#include "app/solves/solve_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "distributed/scaling/system_scale.hpp"

namespace trireme {
namespace {

// NaN is the largest.
double largest(const std::vector<double>& values) {
  double max = 0;
  for (const double value : values) max = std::isnan(max) || max > value ? max : value;
  return max;
}

}  // namespace

void SolveRecords::add(std::size_t k, KspResult&& result, double relative_residual, double unit) {
  if (each_seconds.empty() || (verdict.converged && !result.verdict.converged))
    verdict = result.verdict;
  residuals[k] = relative_residual;
  facts = result.facts;
  iterations = result.iterations;
  each_seconds.push_back(result.seconds);
  history = std::move(result.residuals);
  for (double& norm : history) norm = relative(norm, unit);
}

void SolveRecords::add_rows(const TrueResidual& residual) {
  const std::optional<double>& of_rows = residual.rows.of_rows;
  if (!of_rows || (row_residual && *of_rows <= *row_residual)) return;
  row_residual = of_rows;
  if (rows_say_more(residual.rows, residual.unit))
    row_note = about_rows(residual.rows, residual.unit);
}

void SolveRecords::fill(RunOutcome& o, bool is_sequence, bool error_is_known) {
  o.converged = verdict.converged;
  o.exit_code = verdict.exit_code;
  o.reason = verdict.text;
  o.petsc_reason = static_cast<int>(verdict.reason);
  o.iterations = iterations;
  o.relative_residual = largest(residuals);
  o.relative_row_residual = row_residual;
  if (o.converged && !row_note.empty()) o.notes.push_back(row_note);
  if (error_is_known) o.relative_error = largest(errors);
  o.seconds.solve = seconds;
  o.iteration_us = total_iterations > 0 ? 1e6 * seconds / static_cast<double>(total_iterations) : 0;
  o.history = std::move(history);
  o.solve_seconds = std::move(each_seconds);
  note_corrections(o);
  note_worse_guesses(o, is_sequence);
  std::erase_if(columns, [](const ColumnOutcome& c) { return c.reason.empty(); });
  o.columns = std::move(columns);
  o.deterministic = !facts.variant_times;  // another run may measure other times
  if (facts.variant_times) o.notes.push_back(why_variant(facts));
  if (!again.empty())
    o.notes.push_back(fmt::format(
        "the state of the earlier run does not solve right-hand side {}, which was solved again",
        fmt::join(again, ", ")));
  if (rhs_exponent != 0)
    o.notes.push_back(fmt::format(
        "the solver works on b times 2^{}, where no square leaves the range of double; what "
        "monitors print is scaled likewise",
        -rhs_exponent));
}

// Of mixed precision.
void SolveRecords::note_corrections(RunOutcome& o) const {
  if (facts.mixed) o.corrections = facts.replacements;
  if (facts.exact_from >= 0)
    o.notes.push_back(
        fmt::format("FP32 {} did not lead to the tolerance: FP64 from iteration {} on",
                    facts.vectors_in_fp32 ? "vectors" : "values", facts.exact_from));
  else if (facts.mixed)
    o.notes.push_back(fmt::format("{}the residual was corrected {} times in FP64",
                                  facts.vectors_in_fp32 ? "vectors and values in FP32; " : "",
                                  facts.replacements));
}

void SolveRecords::note_worse_guesses(RunOutcome& o, bool is_sequence) const {
  if (worse_guesses.empty()) return;
  const WorseGuess& first = worse_guesses.front();
  const std::string where = is_sequence            ? fmt::format("step {}", first.k)
                            : residuals.size() > 1 ? fmt::format("right-hand side {}", first.k + 1)
                                                   : "the solve";
  const std::string more =
      worse_guesses.size() > 1 ? fmt::format(", and {} more", worse_guesses.size() - 1) : "";
  o.notes.push_back(
      fmt::format("{}{} began with 0: the guess ({}) had a residual of {:.2g} of ||b||, which is "
                  "more than that of 0",
                  where, more, first.name, first.residual));
}

}  // namespace trireme
