// SPDX-License-Identifier: BSD-3-Clause
// What a prolongator on a GPU is made of, for one rank (device_set_up.cpp) and for several
// (rank_set_up.cpp).
#pragma once

#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/set_up/prolongator.hpp"

namespace trireme::multigrid {

// A matrix, or X A X where x is not empty (relaxed_constants.hpp).
struct DeviceScaledRows {
  DeviceCsr<double> a;
  ScratchBuffer<double> values;  // of X A X

  DeviceScaledRows(const DeviceCsr<double>& of, const ScratchBuffer<double>& x, StreamRef stream)
      : a(of) {
    if (x.empty()) return;
    values = scaled_values(a, x.view(), stream);
    a.values = values.view();
  }
};

struct DeviceProlongatorTask {
  DeviceSpan<const std::uint8_t> strong;  // empty: all entries are
  std::int32_t block_size = 1;
  DeviceSpan<const double> diagonal;  // of A
  bool smoothed = true;
  DeviceSpan<const std::int32_t> aggregate_of_node;
  std::int32_t aggregates = 0;
  const DeviceTentative* tentative = nullptr;
};

// Calls use(rules) with what P is made of, and returns the spectral radius of D^-1 A_F; 0 where P
// is not smoothed. Collective where `rank` has other ranks.
template <class Use>
double with_prolongator_rules(const DeviceCsr<double>& a, const ScratchBuffer<double>& x,
                              const DeviceProlongatorTask& task, StreamRef stream,
                              const RankOfRows& rank, const Use& use) {
  const DeviceScaledRows rows(a, x, stream);
  const DeviceFiltered filtered{rows.a, task.strong, task.block_size};
  ScratchBuffer<double> of_filtered;
  DeviceSpan<const double> divisors = task.diagonal;
  double weight = 0, radius = 0;
  if (task.smoothed) {
    if (!task.strong.empty() || !x.empty()) {
      of_filtered = filtered_diagonal(filtered, stream);
      divisors = of_filtered.view();
    }
    radius = filtered_spectral_radius(filtered, divisors, stream, rank);
    if (radius > 0) weight = kProlongatorDamping / radius;
  }
  use(DeviceProlongatorRules{filtered, divisors, weight, task.aggregate_of_node, task.aggregates,
                             task.tentative});
  return radius;
}

}  // namespace trireme::multigrid
