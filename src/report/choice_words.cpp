// SPDX-License-Identifier: BSD-3-Clause
// Sentences and cells about the choice of the preconditioner.
#include "report/choice_words.hpp"

#include <fmt/format.h>

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

std::string choice(const PreconditionerChoice& choice) {
  std::string text = "preconditioner: auto";
  for (const PreconditionerCandidate& c : choice.candidates) {
    if (!c.chosen) {
      text += fmt::format("; {}: {}", c.name, c.verdict);
      continue;
    }
    text += c.name == choice.began_with ? " kept " + c.name : " took " + c.name;
    if (choice.changed_at) text += fmt::format(" from iteration {} on", *choice.changed_at);
    text += fmt::format(", for {}: {}", solves(choice.solves), c.verdict);
  }
  return text;
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

std::string ladder(const LadderOutcome& ladder) {
  std::string text = "method: auto";
  for (const RungOutcome& r : ladder.rungs) {
    if (&r != &ladder.rungs.front()) text += "; then";
    text += fmt::format(
        " {} with {}{}, because {}", r.method, r.preconditioner,
        r.scaling == Scaling::none ? "" : fmt::format(" and scaling {}", to_string(r.scaling)),
        r.why);
    if (!r.solved) text += fmt::format(" ({}: {})", seconds(r.seconds), r.verdict);
  }
  return text;
}

}  // namespace trireme::words
