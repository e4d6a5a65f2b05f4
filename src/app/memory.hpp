// SPDX-License-Identifier: BSD-3-Clause
// Memory of this process as the kernel counts it, where it does (Linux); 0 elsewhere.
#pragma once

#include <cstdint>

namespace trireme {

std::int64_t resident_bytes();       // now
std::int64_t peak_resident_bytes();  // since the start or the last reset
void reset_peak_resident();          // where the system allows it

}  // namespace trireme
