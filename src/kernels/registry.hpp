// SPDX-License-Identifier: BSD-3-Clause
// Every kernel that Trireme has, on one screen: see registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/half.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

enum class Device { cpu, cuda };

// How a product in FP64 reads its values: as they are, or stored in FP32 (x, y and sums stay FP64).
enum class Precision { full, mixed };

// A kernel, where it runs, and how it stores values.
struct KernelChoice {
  std::string name;  // a registered kernel, or petsc-aij
  Device device = Device::cpu;
  Precision precision = Precision::full;
};

// `matrix` must outlive the kernel: a kernel that needs no layout of its own keeps the view.
template <class Value>
using HostBuilder = std::unique_ptr<HostKernel<Value>> (*)(const CsrView<Value>& matrix);
// Likewise for `matrix` in device memory. Builds in `stream` and synchronises it.
template <class Value>
using CudaBuilder = std::unique_ptr<CudaKernel<Value>> (*)(const DeviceCsr<Value>& matrix,
                                                           StreamRef stream);

struct KernelEntry {
  std::string_view name;
  std::string_view summary;               // one line for --list-kernels
  std::string_view paper;                 // where the algorithm is from
  bool deterministic = true;              // the same bits from run to run,
  bool host_bits_follow_threads = false;  // on the host with the same number of threads only
  // A null builder: the kernel does not have that executor for that value type.
  HostBuilder<double> host_double = nullptr;
  HostBuilder<float> host_float = nullptr;
  HostBuilder<std::int32_t> host_int = nullptr;
  HostBuilder<double> host_mixed = nullptr;  // values stored in FP32, x and y in FP64
  CudaBuilder<double> cuda_double = nullptr;
  CudaBuilder<float> cuda_float = nullptr;
  CudaBuilder<Half> cuda_half = nullptr;     // FP16 values, x and y, FP32 accumulation
  CudaBuilder<double> cuda_mixed = nullptr;  // values stored in FP32, x and y in FP64

  // Whether it multiplies FP64 vectors there.
  bool runs_on(Device device, Precision precision = Precision::full) const;

  template <class Value>
  HostBuilder<Value> host() const;
  template <class Value>
  CudaBuilder<Value> cuda() const;
};

std::span<const KernelEntry> kernel_registry();
// Throws Error{usage} that lists the known names.
const KernelEntry& find_kernel(std::string_view name);

// Throws Error{usage} when the kernel has no such executor, Error{resource} without a CUDA build.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_host_kernel(std::string_view name,
                                                     const CsrView<Value>& matrix);
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cuda_kernel(std::string_view name,
                                                     const DeviceCsr<Value>& matrix,
                                                     StreamRef stream);

// Mixed precision: values stored in FP32, x and y in FP64. Errors as above.
std::unique_ptr<HostKernel<double>> build_mixed_host_kernel(std::string_view name,
                                                            const CsrView<double>& matrix);
std::unique_ptr<CudaKernel<double>> build_mixed_cuda_kernel(std::string_view name,
                                                            const DeviceCsr<double>& matrix,
                                                            StreamRef stream);

template <class Value>
HostBuilder<Value> KernelEntry::host() const {
  if constexpr (std::is_same_v<Value, double>) return host_double;
  if constexpr (std::is_same_v<Value, float>) return host_float;
  if constexpr (std::is_same_v<Value, std::int32_t>) return host_int;
}

template <class Value>
CudaBuilder<Value> KernelEntry::cuda() const {
  if constexpr (std::is_same_v<Value, double>) return cuda_double;
  if constexpr (std::is_same_v<Value, float>) return cuda_float;
  if constexpr (std::is_same_v<Value, Half>) return cuda_half;
}

}  // namespace trireme
