// SPDX-License-Identifier: BSD-3-Clause
// Where the coarsening of a hierarchy ends.
#pragma once

#include <cstdint>

namespace trireme::multigrid {

inline constexpr double kShrinksTooLittle = 0.8;  // coarse rows over fine rows
inline constexpr std::int64_t kMaxDenseRows =
    1500;  // of a level that does not coarsen, for an inverse

}  // namespace trireme::multigrid
