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

}  // namespace trireme::words
