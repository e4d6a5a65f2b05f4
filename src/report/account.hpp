// SPDX-License-Identifier: BSD-3-Clause
// What each kernel costs over a number of products: the investment before the first product and
// the price of each product, compared with every other kernel of the same report.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/break_even.hpp"
#include "report/outcome.hpp"

namespace trireme {

// Numbers of products at which the account names totals.
constexpr std::array<std::int64_t, 4> kAccountProducts = {10, 100, 1000, 10000};

// A kernel in one precision and one order of rows.
struct AccountEntry {
  std::string name;  // csr, csr-mixed; " (rcm)" follows where the rows are in another order
  Precision precision = Precision::full;
  bool from_trial = false;  // measured by the trial of `kernel: auto` only
  KernelCost cost;          // preprocessing: order + build + upload
};

// What one run spent on its products, and what the best entry of its precision would have cost.
struct Hindsight {
  std::size_t run = 0;        // of outcome.runs
  std::int64_t products = 0;  // that the run did
  double seconds = 0;         // the run: tune + order + build + upload + products
  std::size_t best = 0;       // of Account::entries
  bool right = false;         // the best one is what the run used
  double best_seconds = 0;    // of this entry, for the same number of products
};

struct Account {
  std::vector<AccountEntry> entries;  // runs in their order, then what only a trial measured
  std::array<std::size_t, kAccountProducts.size()> cheapest{};  // entries; no meaning without any
  std::vector<Hindsight> hindsight;                             // of each run with a timed product
};

// Leaves out runs and candidates of which no product was timed. A kernel that a run and a trial
// have measured appears once, as the run measured it. The candidates of a trial include the upload
// of the CSR as their run measured it.
Account account_of(const CaseOutcome& outcome);

// Preprocessing and `products` products, in seconds.
double total_seconds(const KernelCost& cost, std::int64_t products);

// The smallest number of products after which `entry` is no dearer than `other`; empty: never.
std::optional<std::int64_t> pays_after(const AccountEntry& entry, const AccountEntry& other);

}  // namespace trireme
