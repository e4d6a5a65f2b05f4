// SPDX-License-Identifier: BSD-3-Clause
// Sentences and cells about the choice of the preconditioner.
#include "report/choice_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/words.hpp"

namespace trireme::words {
namespace {

std::string solves(std::int64_t number) {
  return fmt::format("{} solve{}", number, number == 1 ? "" : "s");
}

}  // namespace

std::array<std::string, kChoiceHeads.size()> cells(const PreconditionerCandidate& c) {
  return {c.name,
          c.measured ? "measured" : "predicted",
          c.set_up_seconds ? seconds(*c.set_up_seconds) : "-",
          c.iteration_us ? seconds(*c.iteration_us * 1e-6) : "-",
          c.solve_seconds ? seconds(*c.solve_seconds) : "-",
          c.pays_after ? solves(*c.pays_after) : "-",
          c.verdict};
}

std::string chosen(const PreconditionerChoice& choice) {
  const auto found = std::ranges::find(choice.candidates, true, &PreconditionerCandidate::chosen);
  if (found == choice.candidates.end()) return "";
  const PreconditionerCandidate& c = *found;
  return fmt::format(
      "auto {} {}{}, for {}: {}", c.name == choice.began_with ? "kept" : "took", c.name,
      choice.changed_at ? fmt::format(" from iteration {} on", *choice.changed_at) : "",
      solves(choice.solves), c.verdict);
}

std::array<std::string, kRungHeads.size()> cells(const RungOutcome& r) {
  return {r.method,
          r.preconditioner,
          std::string(to_string(r.scaling)),
          r.why,
          r.ran ? fmt::to_string(r.iterations) : "-",
          r.relative_residual ? fmt::format("{:.2g}", *r.relative_residual) : "-",
          seconds(r.seconds),
          r.verdict};
}

std::vector<std::string> rungs(const LadderOutcome& ladder) {
  std::vector<std::string> lines;
  for (const RungOutcome& r : ladder.rungs) {
    lines.push_back(fmt::format(
        "{} {} with {}{}, because {}", lines.empty() ? "auto:" : "then", r.method, r.preconditioner,
        r.scaling == Scaling::none ? "" : fmt::format(" and scaling {}", to_string(r.scaling)),
        r.why));
    if (!r.solved) lines.back() += fmt::format(" ({}: {})", seconds(r.seconds), r.verdict);
  }
  return lines;
}

}  // namespace trireme::words
