// SPDX-License-Identifier: BSD-3-Clause
// The widths of runs for which kernels are compiled.
#pragma once

#include <cstdint>
#include <type_traits>

namespace trireme::multigrid {

// Calls visit(std::integral_constant<int, w>) with the width w of runs, or with 1 where runs of
// this width have no kernels of their own. The bits of a result do not depend on w.
template <class Visit>
decltype(auto) with_run(std::int32_t width, const Visit& visit) {
  switch (width) {
    case 3:
      return visit(std::integral_constant<int, 3>());
    case 6:
      return visit(std::integral_constant<int, 6>());
    default:
      return visit(std::integral_constant<int, 1>());
  }
}

}  // namespace trireme::multigrid
