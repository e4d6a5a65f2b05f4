// SPDX-License-Identifier: BSD-3-Clause
// The figures of "distribution" in report.json.
#include "report/figures.hpp"

namespace trireme::json {

template <>
const Figures<HaloOutcome>& figures() {
  static const Figures<HaloOutcome> table = {
      {"ghosts", "1",
       "entries of x that a rank needs from other ranks: of the rank with the maximum",
       &HaloOutcome::ghosts},
      {"all_ghosts", "1", "the same of all ranks", &HaloOutcome::all_ghosts},
      {"balance", "1", "nonzeros of the rank with the maximum over the mean",
       &HaloOutcome::balance},
      {"exchange_us", "us",
       "one exchange of the halo by MPI, beside which nothing is computed; null: not measured",
       &HaloOutcome::exchange_us}};
  return table;
}

template <>
const Figures<DistributionOutcome>& figures() {
  static const Figures<DistributionOutcome> table = {
      {"distribution", "", "what the rows were divided by", &DistributionOutcome::distribution},
      {"reason", "", "why this one", &DistributionOutcome::reason},
      {"rows", "", "for the rows as they are in the file", &DistributionOutcome::rows},
      {"graph", "", "the same after graph partitioning; null: the rows lie as in the file",
       &DistributionOutcome::graph},
      {"expected_products", "1", "over which `auto` decided; 0: it did not decide",
       &DistributionOutcome::expected_products},
      {"partitioner", "", "`PT-Scotch` or `ParMETIS`; null: no graph was partitioned",
       known(&DistributionOutcome::partitioner)},
      {"from_cache", "", "whether an earlier run partitioned the graph",
       &DistributionOutcome::from_cache},
      {"partition_seconds", "s", "partitioning the graph, or reading the parts from the cache",
       &DistributionOutcome::partition_seconds},
      {"move_seconds", "s", "bringing the matrix and the vectors to their ranks",
       &DistributionOutcome::move_seconds},
      {"pays_after", "1",
       "the number of products after which the shorter exchanges have saved both times; null: "
       "never, or not known",
       &DistributionOutcome::paid_after_products}};
  return table;
}

}  // namespace trireme::json
