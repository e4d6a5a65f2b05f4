// SPDX-License-Identifier: BSD-3-Clause
// The account, and the trial of `kernel: auto`.
#include <fmt/format.h>

#include "report/account_words.hpp"
#include "report/html_parts.hpp"
#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::html {
namespace {

using svg::escape;

std::string totals(const Account& account) {
  Table table(
      "preprocessing and products together",
      {"kernel", "measured by", "once", "one product", "10 products", "100", "1,000", "10,000"},
      {1});
  for (std::size_t e = 0; e < account.entries.size(); ++e) {
    const AccountEntry& entry = account.entries[e];
    std::vector<std::string> cells = {escape(entry.name), entry.from_trial ? "trial" : "run",
                                      words::seconds(entry.cost.preprocessing_seconds),
                                      words::seconds(entry.cost.product_us * 1e-6)};
    for (std::size_t i = 0; i < kAccountProducts.size(); ++i) {
      const std::string total = words::seconds(total_seconds(entry.cost, kAccountProducts[i]));
      cells.push_back(account.cheapest[i] == e ? fmt::format("<b>{} ✓</b>", total) : total);
    }
    table.row(cells);
  }
  return table.str();
}

std::string break_evens(const Account& account) {
  std::vector<std::string> heads = {"kernel pays after … products against"};
  for (const AccountEntry& entry : account.entries) heads.push_back(escape(entry.name));
  Table table("break-even of each kernel against each other", heads);
  for (const AccountEntry& mine : account.entries) {
    std::vector<std::string> cells = {escape(mine.name)};
    for (const AccountEntry& other : account.entries) {
      const auto after = pays_after(mine, other);
      cells.push_back(&mine == &other ? "" : after ? words::count(*after) : "never");
    }
    table.row(cells);
  }
  return table.str();
}

std::string trial_of(const RunOutcome& run) {
  const TrialOutcome& trial = *run.trial;
  std::string text = fmt::format("<p>The choice is to pay over {} products ({}). ",
                                 trial.expected_products, escape(trial.expected_from));
  text += trial.from_cache
              ? "An earlier run measured; this one spent nothing."
              : fmt::format("The trial took {} of the {} that it was allowed.",
                            words::seconds(trial.seconds), words::seconds(trial.budget_seconds));
  if (trial.changed_at)
    text += fmt::format(" The chosen kernel took over at iteration {}.", *trial.changed_at);
  text += "</p>\n";
  Table table("every candidate of the trial of " + escape(label(run)),
              {"candidate", "order", "predicted<br>product", "build", "measured<br>product",
               "total over<br>expected products", "verdict"},
              {1, 6});
  for (const TrialCandidate& c : trial.candidates) {
    const bool measured = c.build_seconds && c.product_us;
    const std::string total = measured
                                  ? words::seconds(total_seconds({*c.build_seconds, *c.product_us},
                                                                 trial.expected_products))
                                  : "-";
    table.row({c.chosen ? fmt::format("<b>{} ✓</b>", escape(c.kernel)) : escape(c.kernel),
               escape(c.ordering), words::seconds(c.predicted_us * 1e-6),
               c.build_seconds ? words::seconds(*c.build_seconds) : "-",
               c.product_us ? words::seconds(*c.product_us * 1e-6) : "-", total,
               escape(c.verdict)});
  }
  return text + table.str();
}

}  // namespace

std::string account(const CaseOutcome& outcome) {
  const Account account = account_of(outcome);
  if (account.entries.empty()) return "";
  std::vector<std::string> names;
  for (const AccountEntry& entry : account.entries) names.push_back(entry.name);
  std::string text;
  if (account.entries.size() > 1)
    for (const Hindsight& h : account.hindsight)
      text += fmt::format("<li>{}</li>\n", escape(words::hindsight(outcome, account, h)));
  if (!text.empty()) text = fold("In hindsight", "<ul>\n" + text + "</ul>\n");
  return section("account", "What the preprocessing is worth",
                 legend(names) +
                     grid({figure("Cost over products", svg::cost(outcome, account),
                                  "Rings: from here on another kernel is the cheapest.")}) +
                     totals(account) + text +
                     (account.entries.size() > 1 ? fold("Break-evens", break_evens(account)) : ""));
}

std::string trials(const CaseOutcome& outcome) {
  std::string content;
  for (const RunOutcome& run : outcome.runs)
    if (run.trial) content += trial_of(run);
  return section("trial", "How the kernel was chosen", content);
}

}  // namespace trireme::html
