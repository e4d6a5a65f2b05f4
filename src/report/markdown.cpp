// SPDX-License-Identifier: BSD-3-Clause
// report.md: tables for issues and pull requests.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "report/account_words.hpp"
#include "report/choice_words.hpp"
#include "report/distribution_words.hpp"
#include "report/markdown_text.hpp"
#include "report/multigrid_words.hpp"
#include "report/report.hpp"
#include "report/run_columns.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

using markdown::escape;

std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

// The first column is text, the others are numbers.
std::string head(const std::vector<std::string>& names) {
  std::string text = row(names) + "|:---|";
  for (std::size_t i = 1; i < names.size(); ++i) text += "---:|";
  return text + "\n";
}

std::string kernels(const CaseOutcome& outcome) {
  std::string text = head(run_heads(&RunColumn::markdown));
  for (const RunOutcome& run : outcome.runs)
    text += row(run_cells(escape(label(run)), run, &RunColumn::markdown));
  return text;
}

std::string verdicts(const CaseOutcome& outcome) {
  std::string text;
  for (const RunOutcome& run : outcome.runs) {
    text += fmt::format("- **{}**: {}", escape(label(run)), escape(run.reason));
    for (const std::string& note : words::own_notes(outcome, run)) text += "; " + escape(note);
    text += "\n";
  }
  for (const std::string& line : words::refused(outcome)) text += "- " + escape(line) + "\n";
  if (const auto left_out = words::not_run(outcome); !left_out.empty())
    text += "- " + escape(left_out) + "\n";
  for (const std::string& note : words::common_notes(outcome)) text += "- " + escape(note) + "\n";
  return text;
}

std::string account(const CaseOutcome& outcome) {
  const Account account = account_of(outcome);
  if (account.entries.size() < 2) return "";
  std::string text = "\n### Cost over products\n\n" +
                     head({"kernel", "once", "product", "10", "100", "1,000", "10,000"});
  for (const AccountEntry& entry : account.entries) {
    const auto total = [&](std::size_t i) {
      return words::seconds(total_seconds(entry.cost, kAccountProducts[i]));
    };
    text +=
        row({escape(entry.name), words::seconds(entry.cost.preprocessing_seconds),
             words::seconds(entry.cost.product_us * 1e-6), total(0), total(1), total(2), total(3)});
  }
  return text;
}

std::string trials(const CaseOutcome& outcome) {
  std::string text;
  for (const RunOutcome& run : outcome.runs) {
    if (!run.trial) continue;
    text += fmt::format("\n### How {} was chosen\n\n", escape(label(run))) +
            head({"candidate", "order", "build", "product", "verdict"});
    for (const TrialCandidate& c : run.trial->candidates)
      text += row({escape(c.kernel), escape(c.ordering),
                   c.build_seconds ? words::seconds(*c.build_seconds) : "-",
                   c.product_us ? words::seconds(*c.product_us * 1e-6) : "-", escape(c.verdict)});
  }
  return text;
}

std::string choices(const CaseOutcome& outcome) {
  std::string text;
  for (const RunOutcome& run : outcome.runs) {
    if (!run.ladder) continue;
    text += fmt::format("\n### How the method of {} was chosen\n\nThe matrix is {}.\n\n",
                        escape(label(run)), escape(run.ladder->seen)) +
            head({"method", "preconditioner", "scaling", "why", "iterations", "residual", "time",
                  "end"});
    for (const RungOutcome& r : run.ladder->rungs) {
      const auto [method, preconditioner, scaling, why, iterations, residual, time, end] =
          words::cells(r);
      text += row({escape(method), escape(preconditioner), scaling, escape(why), iterations,
                   residual, time, escape(end)});
    }
  }
  for (const RunOutcome& run : outcome.runs) {
    if (!run.preconditioner_choice) continue;
    text += fmt::format("\n### How the preconditioner of {} was chosen\n\n", escape(label(run))) +
            head({"preconditioner", "figures", "set-up", "iteration", "one solve", "pays after",
                  "why"});
    for (const PreconditionerCandidate& c : run.preconditioner_choice->candidates) {
      const auto [name, from, set_up, iteration, solve, pays, why] = words::cells(c);
      text += row({escape(name), from, set_up, iteration, solve, pays, escape(why)});
    }
  }
  return text;
}

std::string levels(const CaseOutcome& outcome) {
  std::string text;
  for (const RunOutcome& run : outcome.runs) {
    if (!run.multigrid) continue;
    text +=
        fmt::format("\n### Multigrid of {}\n\n{}; {}\n\n", escape(label(run)),
                    escape(words::hierarchy(run)), escape(words::set_up(*run.multigrid))) +
        head({"level", "rows", "nonzeros", "prolongator", "ranks", "kernel", "values", "product"});
    for (std::size_t k = 0; k < run.multigrid->levels.size(); ++k) {
      const auto [level, rows, nnz, prolongator, ranks, kernel, values, product] =
          words::level_cells(run, k);
      text += row({level, rows, nnz, prolongator, ranks, escape(kernel), values, product});
    }
  }
  return text;
}

std::string steps(const CaseOutcome& outcome) {
  std::string text;
  for (const RunOutcome& run : outcome.runs) {
    if (run.steps.empty()) continue;
    text += fmt::format("\n### Steps of {}\n\n", escape(label(run))) +
            head({"step", "guess residual", "iterations", "true residual", "renew", "solve"});
    for (const StepOutcome& s : run.steps)
      text += row({escape(s.name), words::residual(s.guess_residual), std::to_string(s.iterations),
                   words::residual(s.relative_residual), words::seconds(s.renew_seconds),
                   words::seconds(s.solve_seconds)});
  }
  return text;
}

std::string columns(const CaseOutcome& outcome) {
  std::string text;
  for (const RunOutcome& run : outcome.runs) {
    if (run.columns.empty()) continue;
    text += fmt::format("\n### Right-hand sides of {}\n\n", escape(label(run))) +
            head({"right-hand side", "iterations", "true residual", "end"});
    for (std::size_t k = 0; k < run.columns.size(); ++k)
      text +=
          row({std::to_string(k), std::to_string(run.columns[k].iterations),
               words::residual(run.columns[k].relative_residual), escape(run.columns[k].reason)});
  }
  return text;
}

// A block of code in as many tildes as the content does not have.
std::string code(const std::string& content) {
  std::string fence = "~~~";
  while (content.find(fence) != std::string::npos) fence += '~';
  return fence + "\n" + content + (content.ends_with('\n') ? "" : "\n") + fence + "\n";
}

std::string details(const CaseOutcome& outcome) {
  if (outcome.command.empty() && outcome.case_text.empty()) return "";
  return fmt::format(
      "\n<details><summary>Command, case and versions</summary>\n\n{}\n{}\n{}\n\n</details>\n",
      code(outcome.command), code(outcome.case_text), escape(words::citation(outcome)));
}

}  // namespace

std::string markdown_report(const CaseOutcome& outcome) {
  const bool good = exit_code_of_solves(outcome) == ExitCode::converged;
  std::string text = fmt::format("## Solve report: {}\n\n", good ? "converged" : "not converged");
  text += escape(words::problem(outcome.problem)) + "  \n" +
          escape(words::machine(outcome.machine)) + "\n";
  if (!outcome.runs.empty()) {
    if (words::one_method(outcome))
      text += "\n" + escape(words::method(outcome.runs.front())) + "\n";
    text += "\n" + kernels(outcome) + "\n" + verdicts(outcome);
  }
  for (const std::string& line :
       {words::distribution(outcome), words::account_line(outcome), words::start(outcome.start)})
    if (!line.empty()) text += "- " + escape(line) + "\n";
  return text + account(outcome) + trials(outcome) + choices(outcome) + levels(outcome) +
         steps(outcome) + columns(outcome) + details(outcome);
}

}  // namespace trireme
