// SPDX-License-Identifier: BSD-3-Clause
// Goes through the registry.
#include "planning/candidates.hpp"

#include "planning/cost_model.hpp"

namespace trireme {

std::vector<TunerOption> candidates(const CandidateRequest& request) {
  const KernelChoice& running = request.running;
  const MachineRates rates = default_rates(running.device);
  const auto option = [&](std::string_view kernel, Ordering ordering) {
    const double us = predicted_product_us(kernel, ordering, running.device, running.precision,
                                           request.traits, rates);
    const double seconds =
        predicted_build_seconds(kernel, running.device, request.traits, rates) +
        (ordering == running.ordering
             ? 0
             : predicted_order_seconds(ordering, running.device, request.traits)) +
        1e-6 * us * (request.timed_products + 1);
    return TunerOption{.kernel = std::string(kernel),
                       .ordering = ordering,
                       .predicted_us = us,
                       .predicted_seconds = seconds};
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
      if (!kernel.runs_on(running.device, running.precision)) continue;
      if (request.reproducible && !kernel.deterministic) continue;
      options.push_back(option(kernel.name, ordering));
    }
  return options;
}

}  // namespace trireme
