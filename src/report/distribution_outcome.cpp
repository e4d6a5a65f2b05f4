// SPDX-License-Identifier: BSD-3-Clause
// The break-even of a redistribution.
#include "report/distribution_outcome.hpp"

#include <cmath>

namespace trireme {

std::optional<std::int64_t> DistributionOutcome::paid_after_products() const {
  if (!graph || !graph->exchange_us || !rows.exchange_us) return std::nullopt;
  const double saved = 1e-6 * (*rows.exchange_us - *graph->exchange_us);
  if (!(saved > 0)) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil((partition_seconds + move_seconds) / saved));
}

}  // namespace trireme
