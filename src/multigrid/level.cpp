// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a level's transfers.
#include "multigrid/level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/albus/albus.hpp"

namespace trireme::multigrid {

void set_transfer_kernels(Transfer& t, Precision wanted) {
  const auto too_large = [](double value) {
    return std::abs(value) > double{std::numeric_limits<float>::max()};
  };
  const Array<double>& values = t.coarsening.p.values;
  if (std::any_of(values.begin(), values.end(), too_large)) wanted = Precision::full;
  if (t.prolong && t.precision == wanted) {
    t.prolong->update_values(values);
    t.restrict_to->update_values(t.restriction().values);
    return;
  }
  t.precision = wanted;
  t.prolong = build_albus_fixed_host(t.coarsening.p.view(), wanted);
  t.restrict_to = build_albus_fixed_host(t.restriction().view(), wanted);
}

}  // namespace trireme::multigrid
