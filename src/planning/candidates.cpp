// SPDX-License-Identifier: BSD-3-Clause
// Goes through the registry.
#include "planning/candidates.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "planning/cost_model.hpp"

namespace trireme {

namespace {

// Throws Error{usage} for a kernel that is in no list.
KernelModel model_of(std::string_view kernel, const CandidateRequest& request) {
  for (const CandidateRequest::Other& other : request.others)
    if (other.kernel == kernel) return other.model;
  const Device device = request.running.device;
  return find_kernel(kernel).model_on(device).value_or(*plain_kernel(device).model_on(device));
}

}  // namespace

std::vector<TunerOption> candidates(const CandidateRequest& request) {
  const KernelChoice& running = request.running;
  const MachineRates rates = default_rates(running.device);
  const auto option = [&](std::string_view kernel, Ordering ordering,
                          std::string_view ghost_kernel = {}) {
    const KernelModel model = model_of(kernel, request);
    const double us =
        predicted_product_us(model, ordering, running.precision, request.traits, rates);
    const double seconds = predicted_build_seconds(model, request.traits, rates) +
                           1e-6 * us * (request.timed_products + 1);
    const double order = ordering == running.ordering
                             ? 0
                             : predicted_order_seconds(ordering, running.device, request.traits);
    return TunerOption{.kernel = std::string(kernel),
                       .ordering = ordering,
                       .ghost_kernel = std::string(ghost_kernel),
                       .predicted_us = us,
                       .uncertainty = model.uncertainty,
                       .predicted_seconds = seconds,
                       .order_seconds = order};
  };
  std::vector<TunerOption> options{option(running.name, running.ordering)};
  std::vector<Ordering> orderings{running.ordering};
  constexpr double kWorthAnOrder = 0.7;
  const bool gains =
      request.traits.clustered_sectors < kWorthAnOrder * request.traits.sectors_per_nonzero;
  if (request.orderings && gains)
    for (const auto& word : WordsOf<Ordering>::all)
      if (word.choice != running.ordering) orderings.push_back(word.choice);
  for (const Ordering ordering : orderings)
    for (const KernelEntry& kernel : kernel_registry()) {
      if (kernel.name == running.name && ordering == running.ordering) continue;
      if (kernel.peer) continue;
      if (!kernel.runs_on(running.device, running.precision)) continue;
      if (request.reproducible && !kernel.deterministic) continue;
      options.push_back(option(kernel.name, ordering));
    }
  for (const CandidateRequest::Other& other : request.others)
    if (other.kernel != running.name) options.push_back(option(other.kernel, Ordering::given));
  // The ghost block has few nonzeros in most of its rows, so that a layout may not serve it.
  constexpr double kMinGhostPart = 0.02;
  const std::string_view plain = plain_kernel(running.device).name;
  if (request.traits.ghost_part >= kMinGhostPart && running.precision == Precision::full) {
    const auto by_time = [](const TunerOption& a, const TunerOption& b) {
      return a.predicted_us < b.predicted_us;
    };
    const std::string fastest = std::ranges::min_element(options, by_time)->kernel;
    for (const std::string& kernel : std::set<std::string>{running.name, fastest})
      if (kernel != plain) options.push_back(option(kernel, running.ordering, plain));
  }
  return options;
}

}  // namespace trireme
