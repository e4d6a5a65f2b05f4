// SPDX-License-Identifier: BSD-3-Clause
// JSON to and from.
#include "cache/kernel_decision.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"

namespace trireme {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <class T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}
// JSON has no NaN and no infinity, and the library writes null for both.
double number_of(const Json& json) {
  return optional_of<double>(json).value_or(std::numeric_limits<double>::quiet_NaN());
}

Json json_of(const TrialCandidate& candidate) {
  return {{"kernel", candidate.kernel},
          {"ordering", candidate.ordering},
          {"ghost_kernel", candidate.ghost_kernel},
          {"predicted_us", candidate.predicted_us},
          {"build_seconds", json_of(candidate.build_seconds)},
          {"product_us", json_of(candidate.product_us)},
          {"chosen", candidate.chosen},
          {"verdict", candidate.verdict}};
}

TrialCandidate candidate_of(const Json& json) {
  return {.kernel = json.at("kernel").get<std::string>(),
          .ordering = json.at("ordering").get<std::string>(),
          .ghost_kernel = json.at("ghost_kernel").get<std::string>(),
          .predicted_us = number_of(json.at("predicted_us")),
          .build_seconds = optional_of<double>(json.at("build_seconds")),
          .product_us = optional_of<double>(json.at("product_us")),
          .chosen = json.at("chosen").get<bool>(),
          .verdict = json.at("verdict").get<std::string>()};
}

KernelDecision decision_of(const Json& json) {
  KernelDecision decision{.kernel = json.at("kernel").get<std::string>(),
                          .ordering = json.at("ordering").get<std::string>(),
                          .ghost_kernel = json.at("ghost_kernel").get<std::string>(),
                          .trial = {},
                          .iterations = json.at("iterations").get<std::int64_t>()};
  TrialOutcome& trial = decision.trial;
  trial.began_with = json.at("began_with").get<std::string>();
  trial.expected_products = json.at("expected_products").get<std::int64_t>();
  trial.expected_from = json.at("expected_from").get<std::string>();
  trial.budget_seconds = number_of(json.at("budget_seconds"));
  trial.seconds = number_of(json.at("seconds"));
  trial.changed_at = optional_of<std::int64_t>(json.at("changed_at"));
  for (const Json& candidate : json.at("candidates"))
    trial.candidates.push_back(candidate_of(candidate));
  return decision;
}

}  // namespace

std::string to_payload(const KernelDecision& decision) {
  const TrialOutcome& trial = decision.trial;
  Json candidates = Json::array();
  for (const TrialCandidate& candidate : trial.candidates) candidates.push_back(json_of(candidate));
  const Json json = {{"kernel", decision.kernel},
                     {"ordering", decision.ordering},
                     {"ghost_kernel", decision.ghost_kernel},
                     {"iterations", decision.iterations},
                     {"began_with", trial.began_with},
                     {"expected_products", trial.expected_products},
                     {"expected_from", trial.expected_from},
                     {"budget_seconds", trial.budget_seconds},
                     {"seconds", trial.seconds},
                     {"changed_at", json_of(trial.changed_at)},
                     {"candidates", std::move(candidates)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

KernelDecision kernel_decision(std::span<const std::byte> payload) {
  try {
    const auto* text = reinterpret_cast<const char*>(payload.data());
    return decision_of(Json::parse(text, text + payload.size()));
  } catch (const Json::exception&) {
    fail(ExitCode::input, "has a content that this program does not understand");
  }
}

}  // namespace trireme
