// SPDX-License-Identifier: BSD-3-Clause
// The entries of CUDA builders in the lists of kernels.
#pragma once

#include "kernels/registry.hpp"

namespace trireme {

// A build without CUDA declares the CUDA builders but does not compile them, so that its list must
// not refer to them.
template <class Value>
constexpr CudaBuilder<Value> on_cuda([[maybe_unused]] CudaBuilder<Value> builder) {
#ifdef TRIREME_WITH_CUDA
  return builder;
#else
  return nullptr;
#endif
}

}  // namespace trireme
