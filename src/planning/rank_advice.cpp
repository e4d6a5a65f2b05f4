// SPDX-License-Identifier: BSD-3-Clause
// The model, tried for every number of ranks.
#include "planning/rank_advice.hpp"

#include <fmt/format.h>

#include <cmath>

namespace trireme {
namespace {

constexpr double kWorthwhile = 0.8;  // of the measured iteration

double expected_us(const IterationCost& cost, int ranks) {
  const double others = std::fmax(0, cost.iteration_us - cost.compute_us);
  return cost.compute_us * cost.ranks / ranks + others * std::log(ranks) / std::log(cost.ranks);
}

}  // namespace

std::optional<ExpectedIteration> fewer_ranks(const IterationCost& cost) {
  if (cost.ranks < 2 || !(cost.compute_us > 0)) return std::nullopt;
  ExpectedIteration best{.ranks = cost.ranks, .us = cost.iteration_us};
  for (int ranks = cost.ranks - 1; ranks > 0; --ranks)
    if (const double us = expected_us(cost, ranks); us < best.us) best = {ranks, us};
  if (best.ranks == cost.ranks || !(best.us <= kWorthwhile * cost.iteration_us))
    return std::nullopt;
  return best;
}

std::string advice_on_ranks(const IterationCost& cost) {
  const auto best = fewer_ranks(cost);
  if (!best) return {};
  return fmt::format(
      "{} ranks are more than pay: of {:.1f} us per iteration a rank computes for {:.1f}, the rest "
      "are exchanges, sums and waits; about {:.1f} us are expected on {} rank{}, the best number "
      "by "
      "these times",
      cost.ranks, cost.iteration_us, cost.compute_us, best->us, best->ranks,
      best->ranks == 1 ? "" : "s");
}

double compute_us(double products, double local_us, double rows, double nnz) {
  const double of_product = 12 * nnz + 20 * rows;  // bytes: entries, pointers, x and y
  return of_product > 0 ? products * local_us + local_us * 88 * rows / of_product : 0;
}

}  // namespace trireme
