// SPDX-License-Identifier: BSD-3-Clause
// The choice of `kernel: auto` with its measurements, as the payload of a cache entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "report/outcome.hpp"

namespace trireme {

// The kind in the key of a decision. A change of the meaning of a decision changes the number.
inline constexpr const char* kDecisionKind = "decision 1";

struct KernelDecision {
  std::string kernel;
  std::string ordering = "given";
  std::string ghost_kernel{};   // empty: `kernel` multiplies by the ghost block too
  TrialOutcome trial;           // what the choice was made from
  std::int64_t iterations = 0;  // of a solve that the decision served; 0: unknown
};

// As JSON.
std::string to_payload(const KernelDecision& decision);
// Throws Error{input}, whose text is a clause without a subject, for anything else.
KernelDecision kernel_decision(std::span<const std::byte> payload);

}  // namespace trireme
