// SPDX-License-Identifier: BSD-3-Clause
// The figures of "account" in report.json.
#include "report/figures.hpp"

namespace trireme::json {
namespace {

// One entry of an account, which it is compared with.
struct KernelPart {
  const Account& account;
  std::size_t index;
  const AccountEntry& entry() const { return account.entries[index]; }
};

struct HindsightPart {
  const AccountPart& part;
  const Hindsight& hindsight;
};

std::vector<KernelPart> kernels(const AccountPart& part) {
  std::vector<KernelPart> all;
  for (std::size_t e = 0; e < part.account.entries.size(); ++e) all.push_back({part.account, e});
  return all;
}

std::vector<double> totals(const KernelPart& kernel) {
  std::vector<double> totals;
  for (const std::int64_t products : kAccountProducts)
    totals.push_back(total_seconds(kernel.entry().cost, products));
  return totals;
}

Json pays(const KernelPart& kernel) {
  Json pays = Json::object();
  for (const AccountEntry& other : kernel.account.entries)
    if (&other != &kernel.entry()) pays[other.name] = value_of(pays_after(kernel.entry(), other));
  return pays;
}

std::vector<std::string> cheapest(const AccountPart& part) {
  std::vector<std::string> names;
  if (!part.account.entries.empty())
    for (const std::size_t e : part.account.cheapest) names.push_back(part.account.entries[e].name);
  return names;
}

std::vector<HindsightPart> hindsight(const AccountPart& part) {
  std::vector<HindsightPart> all;
  for (const Hindsight& h : part.account.hindsight) all.push_back({part, h});
  return all;
}

}  // namespace

template <>
const Figures<KernelPart>& figures() {
  static const Figures<KernelPart> table = {
      {"name", "", "`csr`, `csr-mixed`, or `csr (rcm)` where its rows are in another order",
       [](const KernelPart& k) { return k.entry().name; }, not_empty()},
      {"from",
       "",
       "who measured it",
       [](const KernelPart& k) { return k.entry().from_trial ? "trial" : "run"; },
       {{"enum", {"run", "trial"}}}},
      {"once_seconds", "s", "order + build + upload",
       [](const KernelPart& k) { return k.entry().cost.preprocessing_seconds; }},
      {"product_us", "us", "the median product",
       [](const KernelPart& k) { return k.entry().cost.product_us; }, nan_is_null()},
      {"total_seconds", "s", "`once_seconds` and the products, at each of `products`", totals},
      {"pays_after",
       "1",
       "for each other kernel: the number of products after which this one is no dearer; null: "
       "never",
       pays,
       {{"type", "object"}, {"additionalProperties", schema_of<std::optional<std::int64_t>>()}}}};
  return table;
}

template <>
const Figures<HindsightPart>& figures() {
  static const Figures<HindsightPart> table = {
      {"run", "", "the run",
       [](const HindsightPart& h) { return label(h.part.outcome.runs[h.hindsight.run]); }},
      {"products", "1", "that it did", [](const HindsightPart& h) { return h.hindsight.products; }},
      {"seconds", "s", "what the run spent on them: tune + order + build + upload + the products",
       [](const HindsightPart& h) { return h.hindsight.seconds; }},
      {"best", "", "the cheapest kernel of the same precision for as many products",
       [](const HindsightPart& h) { return h.part.account.entries[h.hindsight.best].name; }},
      {"best_seconds", "s", "what it costs without a trial",
       [](const HindsightPart& h) { return h.hindsight.best_seconds; }}};
  return table;
}

template <>
const Figures<AccountPart>& figures() {
  static const Figures<AccountPart> table = {
      {"products", "1", "the numbers of products at which totals are given",
       [](const AccountPart&) { return kAccountProducts; }},
      {"kernels", "",
       "what each kernel costs: those of `runs`, and those that only the trial of `kernel: auto` "
       "has measured",
       kernels},
      {"cheapest", "", "the name of the cheapest kernel at each of `products`", cheapest},
      {"hindsight", "", "for each of `runs`, what would have been the best choice", hindsight}};
  return table;
}

}  // namespace trireme::json
