// SPDX-License-Identifier: BSD-3-Clause
// One sentence for rows, several for a graph.
#include "report/distribution_words.hpp"

#include <fmt/format.h>

#include "report/words.hpp"

namespace trireme::words {
namespace {

std::string halo(const HaloOutcome& h) {
  std::string text =
      fmt::format("at most {} ghosts per rank ({} in all), nonzeros {:.2f} of the mean", h.ghosts,
                  h.all_ghosts, h.balance);
  if (h.exchange_us) text += fmt::format(", exchange {}", seconds(1e-6 * *h.exchange_us));
  return text;
}

std::int64_t products_of(const CaseOutcome& outcome) {
  std::int64_t products = 0;
  for (const RunOutcome& run : outcome.runs) products += run.kernel_us.count;
  return products;
}

std::string payment(const CaseOutcome& outcome) {
  const auto needed = outcome.distribution->paid_after_products();
  if (!needed) return "the exchange is not shorter, so that it does not pay";
  const std::int64_t done = products_of(outcome);
  return fmt::format("shorter exchanges pay for it after {} products, and there were {}",
                     count(*needed), count(done));
}

}  // namespace

std::string distribution(const CaseOutcome& outcome) {
  if (!outcome.distribution) return "";
  const DistributionOutcome& d = *outcome.distribution;
  std::string text =
      fmt::format("distribution: {}, because {}", to_string(d.distribution), d.reason);
  if (!d.graph) return text + "; " + halo(d.rows);
  text += fmt::format("; as in the file: {}; by graph: {}", halo(d.rows), halo(*d.graph));
  text += fmt::format("; {} {}, moving the rows {}",
                      d.from_cache ? "parts from the cache" : "partitioning by " + d.partitioner,
                      seconds(d.partition_seconds), seconds(d.move_seconds));
  return text + "; " + payment(outcome);
}

}  // namespace trireme::words
