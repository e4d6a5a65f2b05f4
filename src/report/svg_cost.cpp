// SPDX-License-Identifier: BSD-3-Clause
// Cumulated cost over products, and where the cheapest kernel changes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::svg {
namespace {

constexpr int kSteps = 60;  // points of a curve

std::size_t cheapest(const Account& account, std::int64_t products) {
  std::size_t best = 0;
  for (std::size_t e = 1; e < account.entries.size(); ++e)
    if (total_seconds(account.entries[e].cost, products) <
        total_seconds(account.entries[best].cost, products))
      best = e;
  return best;
}

struct Crossing {
  std::int64_t products = 0;
  std::size_t to = 0;  // entry
};

// Where the cheapest entry changes between 1 and `last` products.
std::vector<Crossing> crossings(const Account& account, std::int64_t last) {
  std::vector<Crossing> found;
  std::size_t current = cheapest(account, 1);
  for (std::int64_t at = 1; at < last;) {
    std::optional<Crossing> next;
    for (std::size_t e = 0; e < account.entries.size(); ++e) {
      if (account.entries[e].cost.product_us >= account.entries[current].cost.product_us) continue;
      const auto after = pays_after(account.entries[e], account.entries[current]);
      if (after && *after >= at && (!next || *after < next->products)) next = {*after, e};
    }
    if (!next || next->products > last) break;
    found.push_back(*next);
    at = next->products;
    current = next->to;
  }
  return found;
}

}  // namespace

Chart cost(const CaseOutcome& outcome, const Account& account) {
  if (account.entries.empty()) return {};
  std::int64_t done = 0;
  for (const Hindsight& h : account.hindsight) done = std::max(done, h.products);
  const double last =
      std::pow(10, std::ceil(std::log10(std::clamp(2.0 * static_cast<double>(done), 1e4, 1e17))));
  double low = total_seconds(account.entries.front().cost, 1), high = low;
  for (const AccountEntry& entry : account.entries) {
    low = std::min(low, total_seconds(entry.cost, 1));
    high = std::max(high, total_seconds(entry.cost, static_cast<std::int64_t>(last)));
  }
  if (!drawable(low) || !drawable(high)) return {};
  const auto crossed = crossings(account, static_cast<std::int64_t>(last));
  std::string description =
      fmt::format("Cheapest for one product: {}. ", account.entries[cheapest(account, 1)].name);
  for (const Crossing& c : crossed)
    description += fmt::format("From {} products on: {}. ", c.products, account.entries[c.to].name);
  Frame frame({.id = "cost",
               .title = "Preprocessing and products together",
               .description = description,
               .x = "products",
               .y = "order + build + upload + products, s"},
              Scale::logarithmic(1, last), Scale::logarithmic(low, high));
  if (done > 0)
    frame.vertical(static_cast<double>(done), "tolerance",
                   outcome.runs.size() == 1 ? "this run" : "longest run");
  Csv csv("kernel,products,seconds");
  std::vector<std::string> names;
  for (std::size_t e = 0; e < account.entries.size(); ++e) {
    std::vector<Point> points;
    for (int step = 0; step <= kSteps; ++step) {
      const double products = std::pow(last, static_cast<double>(step) / kSteps);
      const KernelCost& c = account.entries[e].cost;
      points.push_back({products, c.preprocessing_seconds + 1e-6 * c.product_us * products});
      csv.row(account.entries[e].name, points.back().x, points.back().y);
    }
    names.push_back(account.entries[e].name);
    frame.curve(e, points);
  }
  for (const Crossing& c : crossed)
    frame.ring({static_cast<double>(std::max<std::int64_t>(c.products, 1)),
                total_seconds(account.entries[c.to].cost, std::max<std::int64_t>(c.products, 1))},
               words::count(c.products));
  return frame.chart(std::move(names), csv);
}

}  // namespace trireme::svg
