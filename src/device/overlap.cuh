// SPDX-License-Identifier: BSD-3-Clause
// Launches that overlap with the end of the previous kernel of the stream.
#pragma once

#include <cuda_runtime.h>

#include "device/check.hpp"
#include "device/device.hpp"
#include "device/stream.hpp"

namespace trireme {

// Must be the first statement of every kernel that launch_overlapping() launches. Such a kernel may
// start before the previous kernel has ended: this function waits for that end, and then lets the
// next kernel start early in the same way.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Whether wait_for_predecessor() was compiled into the code of `kernel` that runs on this GPU.
template <class... Parameters>
bool waits_for_predecessor(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel));
  return device_properties().compute_major >= 9 && attributes.ptxVersion >= 90;
}

// Launches `kernel`. With `overlap`, for which the kernel must wait for its predecessor, the launch
// overlaps with the end of the previous kernel.
template <class... Parameters, class... Arguments>
void launch_overlapping(unsigned blocks, unsigned threads, bool overlap, StreamRef stream,
                        void (*kernel)(Parameters...), const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap ? 1 : 0;
  cuda_check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

}  // namespace trireme
