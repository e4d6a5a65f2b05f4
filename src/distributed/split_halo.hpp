// SPDX-License-Identifier: BSD-3-Clause
// The parts of a halo plan that travel by different ways: between the ranks of a group, such as
// those of one node, and between groups.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "distributed/halo.hpp"

namespace trireme {

struct SplitHalo {
  HaloPlan near;  // the ranks of the own group, by their numbers in the group
  HaloPlan far;   // all other ranks, by their own numbers
  // Of each ghost of the whole plan: its number k among the ghosts of `far`, or ~k for number k of
  // `near`.
  Array<std::int32_t> sources;
};

// groups[r] is the group of rank r; the numbers of the ranks of a group ascend from 0.
SplitHalo split_halo(const HaloPlan& plan, std::span<const int> groups, int rank);

}  // namespace trireme
