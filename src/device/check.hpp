// SPDX-License-Identifier: BSD-3-Clause
// CUDA status codes to trireme::Error with file and line. Only for files built with CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace trireme {

// Throws Error{resource} when there is no usable device or no memory, Error{internal} otherwise.
void cuda_check(cudaError_t status, std::source_location where = std::source_location::current());

// After a kernel launch: reports a launch that the runtime refused. Does not synchronise.
inline void check_launch(std::source_location where = std::source_location::current()) {
  cuda_check(cudaGetLastError(), where);
}

}  // namespace trireme
