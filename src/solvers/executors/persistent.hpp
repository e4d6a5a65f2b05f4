// SPDX-License-Identifier: BSD-3-Clause
// The persistent kernel: a whole solve in one launch, for systems that fit into the shared memory
// of the multiprocessors, or of one thread-block cluster.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/preconditioners/jacobi.hpp"

namespace trireme::solvers {

class LoopWindow;

// How a system is laid over the GPU: each block keeps its rows, and all vectors of them, in shared
// memory; only what other blocks gather passes through global memory.
struct PersistentShape {
  int blocks = 0;  // 0: the system does not fit, or the kernel cannot serve
  int threads = 0;
  std::int64_t rows_per_block = 0;
  std::int32_t entries = 0;  // padded matrix entries of the fullest block, in shared memory
  std::size_t shared_bytes = 0;
  bool cluster = false;  // the blocks are one thread-block cluster
};

// Reads the row lengths on the device, and waits for that. through_l2: not as a cluster. Also
// loads the kernel and gives it its shared memory.
PersistentShape plan_persistent(const DeviceCsr<double>& csr, Method method, Variant variant,
                                const Jacobi& m, bool through_l2, StreamRef stream);

// Bytes of scratch that a launch needs on the device, zero at first.
std::size_t persistent_scratch_bytes(const PersistentShape& shape, std::int64_t rows);

// Work vectors in global memory: vector k at first + k * stride.
struct WorkVectors {
  double* first;
  std::int64_t stride;
};

// Queues the solve from `initial`. Of the vectors in global memory only b and x are used, and x is
// not read where the guess is zero; where the solve is stopped, the work vectors that
// leave_direction() starts from are written. `scratch` as above, not shared with another launch in
// flight. LoopWindow::wait_for_result() must follow.
void launch_persistent(Method method, Variant variant, const SystemVectors& vectors,
                       const WorkVectors& work, const Jacobi& m, const State& initial,
                       const DeviceCsr<double>& csr, const PersistentShape& shape,
                       LoopWindow& window, void* scratch, StreamRef stream);

}  // namespace trireme::solvers
