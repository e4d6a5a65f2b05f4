// SPDX-License-Identifier: BSD-3-Clause
// "distribution" in report.json.
#include "report/json.hpp"

namespace trireme::json {
namespace {

Json halo(const HaloOutcome& h) {
  return {{"ghosts", h.ghosts},
          {"all_ghosts", h.all_ghosts},
          {"balance", h.balance},
          {"exchange_us", optional(h.exchange_us)}};
}

}  // namespace

Json distribution(const std::optional<DistributionOutcome>& d) {
  if (!d) return nullptr;
  return {{"distribution", to_string(d->distribution)},
          {"reason", d->reason},
          {"rows", halo(d->rows)},
          {"graph", d->graph ? halo(*d->graph) : Json(nullptr)},
          {"expected_products", d->expected_products},
          {"partitioner", d->partitioner.empty() ? Json(nullptr) : Json(d->partitioner)},
          {"from_cache", d->from_cache},
          {"partition_seconds", d->partition_seconds},
          {"move_seconds", d->move_seconds},
          {"pays_after", optional(d->paid_after_products())}};
}

}  // namespace trireme::json
