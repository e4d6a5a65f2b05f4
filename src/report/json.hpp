// SPDX-License-Identifier: BSD-3-Clause
// The parts of report.json that have a file of their own.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "report/outcome.hpp"

namespace trireme::json {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json run(const RunOutcome& run);
Json preconditioner_choice(const std::optional<PreconditionerChoice>& choice);
Json multigrid(const std::optional<MultigridOutcome>& m);
Json distribution(const std::optional<DistributionOutcome>& distribution);
Json account(const CaseOutcome& outcome);

}  // namespace trireme::json
