// SPDX-License-Identifier: BSD-3-Clause
// The persistent kernel: a whole solve in one launch, for systems that fit into the shared memory
// of the multiprocessors, or of one thread-block cluster.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "solvers/host_solver.hpp"
#include "solvers/methods/bicgstab.hpp"
#include "solvers/methods/cg.hpp"

namespace trireme::solvers {

class LoopWindow;

// How a system is laid over the GPU: each block keeps its rows, and all vectors of them, in shared
// memory; only what other blocks gather passes through global memory.
struct PersistentShape {
  int blocks = 0;  // 0: the system does not fit, or the kernel cannot serve
  int threads = 0;
  std::int64_t rows_per_block = 0;
  std::int32_t entries = 0;  // of the matrix in shared memory, padded, of the fullest block
  std::size_t shared_bytes = 0;
  bool cluster = false;  // the blocks are one thread-block cluster
};

// Reads the row lengths on the device, and waits for that. through_l2: not as a cluster. Also
// loads the kernel and gives it its shared memory.
PersistentShape plan_persistent(const DeviceCsr<double>& csr, Method method, Variant variant,
                                const Preconditioner& m, bool through_l2, StreamRef stream);

// Bytes of scratch that a launch needs on the device, zero at first.
std::size_t persistent_scratch_bytes(const PersistentShape& shape, std::int64_t rows);

// Queues the solve from `initial`; the vectors name global memory, of which only b and x are used,
// x not read where the guess is zero; where the solve is stopped, what leave_direction() needs of
// the others is written.
// `scratch` as above, not shared with another launch in flight. LoopWindow::wait_for_result() must
// follow.
void launch_persistent_cg(const CgVectors& v, const Preconditioner& m, Variant variant,
                          const State& initial, const DeviceCsr<double>& csr,
                          const PersistentShape& shape, LoopWindow& window, void* scratch,
                          StreamRef stream);
void launch_persistent_bicgstab(const BicgstabVectors& v, const Preconditioner& m,
                                const State& initial, const DeviceCsr<double>& csr,
                                const PersistentShape& shape, LoopWindow& window, void* scratch,
                                StreamRef stream);

}  // namespace trireme::solvers
