// SPDX-License-Identifier: BSD-3-Clause
// Builds kernels by name, and says which executor is missing.
#include <string_view>
#include <type_traits>

#include "base/error.hpp"
#include "kernels/registry.hpp"

namespace trireme {
namespace {

template <class Value>
constexpr std::string_view value_name() {
  if constexpr (std::is_same_v<Value, double>) return "double";
  if constexpr (std::is_same_v<Value, float>) return "float";
  if constexpr (std::is_same_v<Value, Half>) return "half";
  return "int";
}

template <class Value>
std::unique_ptr<HostKernel<Value>> built_on_host(std::string_view name, HostBuilder<Value> builder,
                                                 std::string_view precision,
                                                 const CsrView<Value>& matrix) {
  if (!builder)
    fail(ExitCode::usage, "kernel '{}' has no CPU executor for {}; see solve --list-kernels", name,
         precision);
  return builder(matrix);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> built_on_cuda(std::string_view name, CudaBuilder<Value> builder,
                                                 std::string_view precision,
                                                 const DeviceCsr<Value>& matrix, StreamRef stream) {
#ifndef TRIREME_WITH_CUDA
  fail(ExitCode::resource,
       "kernel '{}' on cuda: this Trireme was built without CUDA; use device: cpu", name);
#endif
  if (!builder)
    fail(ExitCode::usage, "kernel '{}' has no CUDA executor for {}; see solve --list-kernels", name,
         precision);
  return builder(matrix, stream);
}

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_host_kernel(std::string_view name,
                                                     const CsrView<Value>& matrix) {
  return built_on_host(name, find_kernel(name).host<Value>(), value_name<Value>(), matrix);
}

std::unique_ptr<HostKernel<double>> build_mixed_host_kernel(std::string_view name,
                                                            const CsrView<double>& matrix) {
  return built_on_host(name, find_kernel(name).host_mixed, "mixed precision", matrix);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cuda_kernel(std::string_view name,
                                                     const DeviceCsr<Value>& matrix,
                                                     StreamRef stream) {
  return built_on_cuda(name, find_kernel(name).cuda<Value>(), value_name<Value>(), matrix, stream);
}

std::unique_ptr<CudaKernel<double>> build_mixed_cuda_kernel(std::string_view name,
                                                            const DeviceCsr<double>& matrix,
                                                            StreamRef stream) {
  return built_on_cuda(name, find_kernel(name).cuda_mixed, "mixed precision", matrix, stream);
}

template std::unique_ptr<HostKernel<double>> build_host_kernel(std::string_view,
                                                               const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_host_kernel(std::string_view,
                                                              const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_host_kernel(std::string_view,
                                                                     const CsrView<std::int32_t>&);
template std::unique_ptr<CudaKernel<double>> build_cuda_kernel(std::string_view,
                                                               const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cuda_kernel(std::string_view,
                                                              const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_cuda_kernel(std::string_view,
                                                             const DeviceCsr<Half>&, StreamRef);

}  // namespace trireme
