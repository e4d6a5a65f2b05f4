// SPDX-License-Identifier: BSD-3-Clause
// "account" in report.json.
#include "report/account.hpp"
#include "report/json.hpp"

namespace trireme::json {
namespace {

Json entry(const Account& account, std::size_t e) {
  const AccountEntry& mine = account.entries[e];
  Json totals = Json::array(), pays = Json::object();
  for (const std::int64_t products : kAccountProducts)
    totals.push_back(total_seconds(mine.cost, products));
  for (std::size_t other = 0; other < account.entries.size(); ++other)
    if (other != e)
      pays[account.entries[other].name] = optional(pays_after(mine, account.entries[other]));
  return {{"name", mine.name},
          {"from", mine.from_trial ? "trial" : "run"},
          {"once_seconds", mine.cost.preprocessing_seconds},
          {"product_us", mine.cost.product_us},
          {"total_seconds", std::move(totals)},
          {"pays_after", std::move(pays)}};
}

}  // namespace

Json account(const CaseOutcome& outcome) {
  const Account account = account_of(outcome);
  Json entries = Json::array(), cheapest = Json::array(), hindsight = Json::array();
  for (std::size_t e = 0; e < account.entries.size(); ++e) entries.push_back(entry(account, e));
  if (!account.entries.empty())
    for (const std::size_t e : account.cheapest) cheapest.push_back(account.entries[e].name);
  for (const Hindsight& h : account.hindsight)
    hindsight.push_back({{"run", label(outcome.runs[h.run])},
                         {"products", h.products},
                         {"seconds", h.seconds},
                         {"best", account.entries[h.best].name},
                         {"best_seconds", h.best_seconds}});
  return {{"products", kAccountProducts},
          {"kernels", std::move(entries)},
          {"cheapest", std::move(cheapest)},
          {"hindsight", std::move(hindsight)}};
}

}  // namespace trireme::json
