// SPDX-License-Identifier: BSD-3-Clause
// Functions that solve for many right-hand sides at once on a GPU, for tests.
#pragma once

#include <vector>

#include "kernels/narrow_kernel.hpp"
#include "solvers/block_solves.hpp"
#include "solvers/cuda_block_solver.hpp"
#include "solvers/gpu_solves.hpp"

namespace trireme::test {

// solve_block() for columns in the memory of the GPU.
inline std::vector<Solved> solve_block_there(solvers::CudaBlockSolver& solver,
                                             const std::vector<Array<double>>& b,
                                             const GpuOptions& options,
                                             const std::vector<Array<double>>& x0) {
  solver.weigh_rows(options.row_scale);
  const auto solve = [&](MultiVector<double> in, MultiVector<double> out, const auto& observers) {
    const Stream stream;
    const auto size = static_cast<std::size_t>(in.rows * in.width);
    Array<double> columns(size);
    const auto x = one_after_the_other(columns.data(), in.rows, in.width);
    const auto copy = [&](const auto& from, const auto& to) {
      for (std::int64_t j = 0; j < in.width; ++j)
        for (std::int64_t i = 0; i < in.rows; ++i) to(i, j) = from(i, j);
    };
    copy(out, x);
    const auto b_there = to_device(std::span<const double>(in.data, size), stream);
    const auto x_there = to_device(std::span<const double>(columns), stream);
    const auto results =
        solver.solve(DeviceMultiVector<const double>{b_there.data(), in.rows, in.width, 1, in.rows},
                     DeviceMultiVector<double>{x_there.data(), in.rows, in.width, 1, in.rows},
                     x0.empty(), stream, options.rule, observers);
    columns = to_host(x_there.view(), stream);
    copy(one_after_the_other(columns.data(), in.rows, in.width), out);
    return results;
  };
  return solve_block_by(solve, b, options, x0);
}

// Solves for columns on the host and on the GPU, and checks that both solves have the same bits.
inline std::vector<Solved> solve_block_on_gpu(solvers::CudaSystem& system,
                                              const std::vector<Array<double>>& b,
                                              const GpuOptions& options,
                                              const std::vector<Array<double>>& x0 = {}) {
  solvers::CudaBlockSolver solver(system, options.method, options.variant, options.preconditioner);
  const std::vector<Solved> first = solve_block(solver, b, options, x0);
  std::vector<Solved> second = solve_block_there(solver, b, options, x0);
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
