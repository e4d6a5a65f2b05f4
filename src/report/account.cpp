// SPDX-License-Identifier: BSD-3-Clause
// Collects the costs of an outcome, then plain arithmetic.
#include "report/account.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trireme {
namespace {

// The name does not say who chose the kernel, so that a kernel that was measured twice has one
// name.
std::string name_of(const std::string& kernel, const std::string& ordering, Precision precision) {
  RunOutcome run = {};
  run.kernel = kernel;
  run.precision = precision;
  return ordering == "given" ? label(run) : fmt::format("{} ({})", label(run), ordering);
}

std::string name_of(const RunOutcome& run) {
  return name_of(run.kernel, run.ordering, run.precision);
}

void add(Account& account, AccountEntry entry) {
  const bool known = std::ranges::any_of(
      account.entries, [&](const AccountEntry& other) { return other.name == entry.name; });
  if (!known) account.entries.push_back(std::move(entry));
}

std::size_t cheapest_at(const std::vector<AccountEntry>& entries, std::int64_t products,
                        std::optional<Precision> precision) {
  std::optional<std::size_t> best;
  const auto total = [&](std::size_t e) { return total_seconds(entries[e].cost, products); };
  for (std::size_t e = 0; e < entries.size(); ++e) {
    if (precision && entries[e].precision != *precision) continue;
    if (!best || total(e) < total(*best)) best = e;
  }
  return best.value_or(0);
}

Hindsight look_back(const Account& account, const CaseOutcome& outcome, std::size_t r) {
  const RunOutcome& run = outcome.runs[r];
  const std::int64_t products = run.kernel_us.count;
  const KernelCost own = {run.seconds.order + run.seconds.build + run.seconds.upload,
                          run.kernel_us.median};
  const std::size_t best = cheapest_at(account.entries, products, run.precision);
  return {.run = r,
          .products = products,
          .seconds = run.seconds.tune + total_seconds(own, products),
          .best = best,
          .right = account.entries[best].name == name_of(run),
          .best_seconds = total_seconds(account.entries[best].cost, products)};
}

}  // namespace

double total_seconds(const KernelCost& cost, std::int64_t products) {
  return cost.preprocessing_seconds + 1e-6 * cost.product_us * static_cast<double>(products);
}

std::optional<std::int64_t> pays_after(const AccountEntry& entry, const AccountEntry& other) {
  return break_even_products(entry.cost, other.cost);
}

Account account_of(const CaseOutcome& outcome) {
  Account account;
  const auto timed = [](const RunOutcome& run) {
    return run.kernel_us.count > 0 && run.kernel_us.median > 0;
  };
  for (const RunOutcome& run : outcome.runs)
    if (timed(run))
      add(account, {.name = name_of(run),
                    .precision = run.precision,
                    .cost = {run.seconds.order + run.seconds.build + run.seconds.upload,
                             run.kernel_us.median}});
  for (const RunOutcome& run : outcome.runs) {
    if (!run.trial) continue;
    for (const TrialCandidate& candidate : run.trial->candidates)
      if (candidate.product_us && candidate.build_seconds)
        add(account,
            {.name = name_of(candidate.kernel, candidate.ordering, run.precision),
             .precision = run.precision,
             .from_trial = true,
             .cost = {*candidate.build_seconds + run.seconds.upload, *candidate.product_us}});
  }
  for (std::size_t i = 0; i < kAccountProducts.size(); ++i)
    account.cheapest[i] = cheapest_at(account.entries, kAccountProducts[i], std::nullopt);
  for (std::size_t r = 0; r < outcome.runs.size(); ++r)
    if (timed(outcome.runs[r])) account.hindsight.push_back(look_back(account, outcome, r));
  return account;
}

}  // namespace trireme
