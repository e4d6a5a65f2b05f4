// SPDX-License-Identifier: BSD-3-Clause
// Sentences about costs.
#include "report/account_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/words.hpp"

namespace trireme::words {
namespace {

// "100", "100 and 1000", "10, 100 and 1000"
std::string listed(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

}  // namespace

std::string start(const StartSeconds& s) {
  if (!(s.total > 0)) return "";
  std::vector<std::string> shown;
  for (const auto& [name, seconds] : parts(s))
    if (seconds >= 0.005 * s.total) shown.push_back(fmt::format("{} {:.2g}", name, seconds));
  return fmt::format("first iteration {:.2g} s after the start: {}", s.total,
                     fmt::join(shown, ", "));
}

std::string spent(const Seconds& s) {
  std::vector<std::string> shown;
  for (const auto& [name, time] : parts(s))
    if (time > 0) shown.push_back(fmt::format("{} {}", name, seconds(time)));
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::string cheapest(const Account& account) {
  if (account.entries.size() < 2) return "";
  std::string text;
  for (std::size_t i = 0; i < kAccountProducts.size();) {
    const std::size_t entry = account.cheapest[i];
    std::vector<std::int64_t> products;
    const bool first = i == 0;
    for (; i < kAccountProducts.size() && account.cheapest[i] == entry; ++i)
      products.push_back(kAccountProducts[i]);
    text += fmt::format("{}over {}{}: {}", first ? "" : "; ", listed(products),
                        first ? " products" : "", account.entries[entry].name);
  }
  return text;
}

std::string hindsight(const CaseOutcome& outcome, const Account& account, const Hindsight& h) {
  const RunOutcome& run = outcome.runs[h.run];
  const std::string& best = account.entries[h.best].name;
  const double lost = h.seconds - h.best_seconds;
  const std::string share = fmt::format("{} ({})", seconds(lost), percent(lost / h.seconds));
  if (h.right)
    return fmt::format("{} was the best choice for its {} products", label(run), h.products) +
           (run.seconds.tune > 0 ? fmt::format(", and its trial cost {}", share) : "");
  return fmt::format("for the {} products of {}, {} would have cost {} less", h.products,
                     label(run), best, share);
}

std::vector<std::pair<std::string_view, std::string>> account_facts(const CaseOutcome& outcome) {
  std::vector<std::pair<std::string_view, std::string>> facts;
  if (outcome.runs.empty()) return facts;
  const Account account = account_of(outcome);
  const auto show = [&](std::string_view what, std::string text) {
    if (!text.empty()) facts.emplace_back(what, std::move(text));
  };
  if (outcome.runs.size() == 1) show("time", spent(outcome.runs.front().seconds));
  show("cheapest", cheapest(account));
  if (account.entries.size() > 1)
    for (const Hindsight& h : account.hindsight) {
      // Where kernels are compared, the best one shows in `cheapest`; the others are not a choice.
      if (outcome.runs.size() > 1 && !outcome.runs[h.run].trial) continue;
      show("choice", hindsight(outcome, account, h));
    }
  return facts;
}

std::string account_line(const CaseOutcome& outcome) {
  std::vector<std::string> shown;
  for (const auto& [what, text] : account_facts(outcome))
    shown.push_back(what == "cheapest" ? "cheapest " + text : text);
  return shown.empty() ? "" : fmt::format("account: {}", fmt::join(shown, "; "));
}

}  // namespace trireme::words
