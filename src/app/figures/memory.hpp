// SPDX-License-Identifier: BSD-3-Clause
// Memory of this process as Linux counts it. All functions return 0 on other systems.
#pragma once

#include <cstdint>

namespace trireme {

std::int64_t resident_bytes();       // now
std::int64_t peak_resident_bytes();  // since the start or the last reset
void reset_peak_resident();          // does nothing where the system does not allow it

}  // namespace trireme
