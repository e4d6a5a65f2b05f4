// SPDX-License-Identifier: BSD-3-Clause
// Whether a system is large enough for the GPUs that share it.
#pragma once

#include <cstdint>
#include <string>

namespace trireme {

// Advice for a note of the report; empty where every GPU has enough to do.
std::string advice_on_shares(int gpus, std::int64_t nonzeros);

}  // namespace trireme
