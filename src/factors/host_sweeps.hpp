// SPDX-License-Identifier: BSD-3-Clause
// z = (I + U)^-1 D^-1 (I + L)^-1 r on the host.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "factors/numbers.hpp"
#include "factors/pattern.hpp"

namespace trireme::factors {

// The rows of L or of U in the order in which a sweep comes to them. Where threads gain by it, that
// is the order of levels, whose rows the threads share; otherwise it is one after the other.
template <class Value>
struct Sweep {
  Array<std::int32_t> starts;   // of each level in `rows`, and their number; one level: one thread
  Array<std::int32_t> rows;     // the row at each place of the sweep
  Array<std::int32_t> row_ptr;  // of each place
  Array<std::int32_t> col_idx;
  Array<Value> values;
};

// L and U are kept in Value, float or double; D and all sums are in FP64. The bits are the same for
// any number of threads.
template <class Value>
class HostSweeps {
 public:
  // Keeps a reference to `pattern`.
  HostSweeps(const FactorPattern& pattern, const FactorNumbers& numbers);

  // Other numbers on the same pattern.
  void take(const FactorNumbers& numbers);
  // In the order of A's rows. r and z do not overlap.
  void apply(std::span<const double> r, std::span<double> z);

 private:
  const FactorPattern* pattern_;
  Sweep<Value> lower_, upper_;
  Array<std::int32_t> entry_of_lower_, entry_of_upper_;  // of the pattern
  Array<double> inverse_diagonal_;
  Array<double> y_;  // in the order of elimination
};

}  // namespace trireme::factors
