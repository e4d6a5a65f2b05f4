// SPDX-License-Identifier: BSD-3-Clause
// Tells whether a system is large enough for the GPUs that share it.
#pragma once

#include <cstdint>
#include <string>

namespace trireme {

// Returns advice for a note of the report, or an empty text where every GPU has enough nonzeros.
// `nonzeros` is the number of all GPUs together.
std::string advice_on_shares(int gpus, std::int64_t nonzeros);

}  // namespace trireme
