// SPDX-License-Identifier: BSD-3-Clause
// Planning and launching the persistent kernel. It runs a whole solve in one launch, for systems
// that fit into the shared memory of all multiprocessors, or of one thread-block cluster.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/preconditioners/jacobi.hpp"

namespace trireme::solvers {

class LoopWindow;

// How the rows are divided among the blocks. Each block keeps the matrix entries and all vectors of
// its rows in shared memory.
struct PersistentShape {
  int blocks = 0;   // 0: the system does not fit, or the GPU cannot run the kernel
  int threads = 0;  // per block
  std::int64_t rows_per_block = 0;
  std::int32_t entries = 0;      // padded matrix entries of the fullest block
  std::size_t shared_bytes = 0;  // of dynamic shared memory per block
  bool cluster = false;          // the blocks are one thread-block cluster
};

// Whether the kernel runs an algorithm: one that restarts has more vectors than shared memory holds
// for all but the smallest systems, and more sums at a time than blocks exchange.
template <class Algorithm>
inline constexpr bool kRunsInOneKernel = !Algorithm::info.restarts;

// Plans a launch for the square matrix `csr` on the current device. With `through_l2`, the blocks
// are never a cluster. Also loads the kernel and raises its limit of shared memory. Reads the row
// lengths on the device, and waits for `stream`. The shape has no blocks where the kernel does not
// run the method.
PersistentShape plan_persistent(const DeviceCsr<double>& csr, Method method, Variant variant,
                                bool through_l2, StreamRef stream);

// The bytes of device memory that a launch needs as scratch. They must be zero before the first
// launch.
std::size_t persistent_scratch_bytes(const PersistentShape& shape, std::int64_t rows);

// Queues a solve that begins with the scalars `initial`. LoopWindow::wait_for_result() must follow.
// The kernel reads b, and x unless the guess is zero, and writes x. If the solve is stopped, it
// also writes the vectors of `work` that leave_direction() starts from. `scratch` has
// persistent_scratch_bytes() bytes, and no other launch in flight may use it.
void launch_persistent(Method method, Variant variant, const SystemVectors& vectors,
                       const WorkMemory& work, const Jacobi& m, const State& initial,
                       const DeviceCsr<double>& csr, const PersistentShape& shape,
                       LoopWindow& window, void* scratch, StreamRef stream);

}  // namespace trireme::solvers
