// SPDX-License-Identifier: BSD-3-Clause
// A quick look for the driver of a GPU. This header compiles without CUDA.
#pragma once

namespace trireme {

// Whether a driver of NVIDIA GPUs shows its device files, and the environment does not hide every
// GPU. Takes microseconds, where cuda_available() opens the driver in some 0.1 s. The answer is
// likely, not certain. False in a build without CUDA.
bool driver_is_visible() noexcept;

}  // namespace trireme
