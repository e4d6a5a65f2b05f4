// SPDX-License-Identifier: BSD-3-Clause
// Functions that solve for many right-hand sides at once on a GPU, for tests.
#pragma once

#include <vector>

#include "kernels/narrow_kernel.hpp"
#include "solvers/block_solves.hpp"
#include "solvers/cuda_block_solver.hpp"
#include "solvers/gpu_solves.hpp"

namespace trireme::test {

// Solves twice, and checks that both solves have the same bits.
inline std::vector<Solved> solve_block_on_gpu(solvers::CudaSystem& system,
                                              const std::vector<Array<double>>& b,
                                              const GpuOptions& options,
                                              const std::vector<Array<double>>& x0 = {}) {
  solvers::CudaBlockSolver solver(system, options.method, options.variant, options.preconditioner);
  const std::vector<Solved> first = solve_block(solver, b, options, x0);
  std::vector<Solved> second = solve_block(solver, b, options, x0);
  if (!options.observer.stop)
    for (std::size_t j = 0; j < b.size(); ++j) expect_same_bits(first[j], second[j]);
  return second;
}

inline std::vector<Solved> solve_block_on_gpu(const CsrMatrix<double>& a,
                                              const std::vector<Array<double>>& b,
                                              const GpuOptions& options,
                                              const std::vector<Array<double>>& x0 = {}) {
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(options.gpu_kernel, on_device.view(), stream);
  stream.synchronize();
  solvers::CudaKernelSystem system(*kernel, on_device.view());
  return solve_block_on_gpu(system, b, options, x0);
}

// With values in FP32, and their exact product by albus.
inline std::vector<Solved> solve_block_mixed_on_gpu(const CsrMatrix<double>& a,
                                                    const std::vector<Array<double>>& b,
                                                    const GpuOptions& options) {
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto defect = to_device(std::span<const float>(row_defect(a)), stream);
  const auto exact = build_cuda_kernel<double>("albus", on_device.view(), stream);
  const auto rounded = build_mixed_cuda_kernel("csr-vector", on_device.view(), stream);
  stream.synchronize();
  solvers::CudaKernelSystem system(*rounded, on_device.view(), exact.get(), defect.view());
  return solve_block_on_gpu(system, b, options);
}

// A system that counts its products in FP32.
class CountsFloatProducts : public solvers::CudaKernelSystem {
 public:
  using CudaKernelSystem::CudaKernelSystem;
  void multi_multiply_floats(DeviceMultiVector<const float> x, DeviceMultiVector<float> y,
                             StreamRef stream) override {
    ++products;
    CudaKernelSystem::multi_multiply_floats(x, y, stream);
  }
  int products = 0;
};

// With values and work vectors in FP32, and the exact product by albus.
inline std::vector<Solved> solve_block_in_fp32_on_gpu(const CsrMatrix<double>& a,
                                                      const std::vector<Array<double>>& b,
                                                      const GpuOptions& options,
                                                      const std::vector<Array<double>>& x0 = {}) {
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto defect = to_device(std::span<const float>(row_defect(a)), stream);
  const auto exact = build_cuda_kernel<double>("albus", on_device.view(), stream);
  const auto rounded = build_mixed_cuda_kernel(options.gpu_kernel, on_device.view(), stream);
  NarrowKernel narrow(options.gpu_kernel, on_device.view(), defect.view(), stream);
  EXPECT_TRUE(narrow.multiplies_vectors());
  stream.synchronize();
  CountsFloatProducts system(*rounded, on_device.view(), exact.get(), defect.view(), &narrow);
  const std::vector<Solved> solved = solve_block_on_gpu(system, b, options, x0);
  EXPECT_GT(system.products, 0);
  return solved;
}

}  // namespace trireme::test
