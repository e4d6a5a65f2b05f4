// SPDX-License-Identifier: BSD-3-Clause
// The rate of the current GPU where it reads few bytes again and again, which its L2 cache may
// hold. This header compiles without CUDA; in such a build the function throws Error{resource}.
#pragma once

#include <cstddef>

namespace trireme {

// In GB/s (1e9 bytes per second): the better one of reads of an array of `bytes` bytes and of
// copies between its halves, counting bytes read and bytes written. Each is the best of some
// batches whose passes are queued one behind the other, so that waits of the host are in no rate.
// Throws Error{resource} where there is no GPU.
double measure_device_cache(std::size_t bytes);

}  // namespace trireme
