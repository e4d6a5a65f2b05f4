// SPDX-License-Identifier: BSD-3-Clause
// Functions that solve by the resident engine on a GPU, for tests.
#pragma once

#include <algorithm>
#include <string>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/registry.hpp"
#include "solvers/cuda_kernel_system.hpp"
#include "solvers/solves.hpp"

namespace trireme::test {

// The member `kernel` of Options is the host's kernel; `gpu_kernel` is the GPU's.
struct GpuOptions : Options {
  GpuOptions() { variant = solvers::Variant::classic; }
  solvers::CudaMode mode = solvers::CudaMode::graph;
  std::string gpu_kernel = "csr-vector";
  bool through_l2 = false;
};

// Solves twice, and checks that both solves give the same bits.
inline Solved solve_on_gpu(const CsrMatrix<double>& a, std::span<const double> b,
                           const GpuOptions& options) {
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  solvers::CudaKernelSystem system(*kernel, on_device.view());
  solvers::CudaSolver solver(system, options.method, options.variant, options.preconditioner,
                             {.mode = options.mode, .through_l2 = options.through_l2});
  const Solved first = solve_by(solver, b, options), second = solve_by(solver, b, options);
  if (!options.observer.stop) {
    const auto same = [](double p, double q) { return p == q || (p != p && q != q); };
    EXPECT_TRUE(std::ranges::equal(first.history, second.history, same));
    EXPECT_TRUE(std::ranges::equal(first.x, second.x, same));
  }
  return second;
}

// One process that takes the code path of several processes. Its sums are complete already.
class SeveralProcesses : public solvers::CudaKernelSystem {
 public:
  using CudaKernelSystem::CudaKernelSystem;
  Recording how = Recording::replay;
  Recording recording() const override { return how; }
  std::size_t dot_partials() const override { return 0; }
  DeviceCsr<double> csr() const override { return {}; }
  int processes() const override { return 2; }
};

}  // namespace trireme::test
