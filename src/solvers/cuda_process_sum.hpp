// SPDX-License-Identifier: BSD-3-Clause
// A sum over the processes of a CudaSystem of one number that the host has.
#pragma once

#include <span>

#include "device/buffer.hpp"
#include "solvers/cuda_solver.hpp"

namespace trireme::solvers {

// `memory`: of one number, on the device. Waits for `stream`. Collective.
inline double process_sum(CudaSystem& system, double number, double* memory, StreamRef stream) {
  if (system.processes() == 1) return number;
  const DeviceSpan<double> all(memory, 1);
  copy_to_device(std::span<const double>(&number, 1), all, stream);
  system.sum(all, stream);
  return read_back<double>(all.data(), stream);
}

}  // namespace trireme::solvers
