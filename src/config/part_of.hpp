// SPDX-License-Identifier: BSD-3-Clause
// What a later run takes over from an earlier one only where the values of certain keys are equal.
#pragma once

#include <type_traits>

namespace trireme {

// A set of such things. Each row of the key table has one, which names the things that the value
// of the key is part of. Keys that say what the system is are part of none of them: fingerprints
// of the matrix, b and x0 take their place, so that a file may have another name in the later run.
class PartOf {
 public:
  static const PartOf nothing;
  static const PartOf resumed_run;    // a run goes on from state.h5: app/kept/run_identity.hpp
  static const PartOf kernel_choice;  // the cached choice of kernel: auto: app/kept/case_cache.hpp
  static const PartOf iterations;     // the cached number of iterations of a solve: likewise

  constexpr bool has(PartOf other) const { return (things_ & other.things_) != 0; }
  friend constexpr PartOf operator|(PartOf a, PartOf b) { return PartOf(a.things_ | b.things_); }

 private:
  explicit constexpr PartOf(unsigned things) : things_(things) {}
  unsigned things_;
};

inline constexpr PartOf PartOf::nothing{0};
inline constexpr PartOf PartOf::resumed_run{1};
inline constexpr PartOf PartOf::kernel_choice{2};
inline constexpr PartOf PartOf::iterations{4};

// So that a row of the key table which leaves it out does not compile.
static_assert(!std::is_default_constructible_v<PartOf>);

}  // namespace trireme
