// SPDX-License-Identifier: BSD-3-Clause
// Turns CUDA status codes into errors with file and line. Only files built with CUDA may include
// this header.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace trireme {

// Throws Error{resource} when there is no usable device or no memory, Error{internal} otherwise.
void cuda_check(cudaError_t status, std::source_location where = std::source_location::current());

// To be called after a kernel launch: throws where the runtime refused the launch. Does not
// synchronise, so that it does not see errors of the kernel itself.
inline void check_launch(std::source_location where = std::source_location::current()) {
  cuda_check(cudaGetLastError(), where);
}

}  // namespace trireme
