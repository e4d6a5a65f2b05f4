// SPDX-License-Identifier: BSD-3-Clause
// A non-owning name for a CUDA stream that compiles without CUDA.
#pragma once

struct CUstream_st;  // cudaStream_t is a pointer to this

namespace trireme {

using StreamRef = CUstream_st*;  // nullptr is the legacy default stream

}  // namespace trireme
