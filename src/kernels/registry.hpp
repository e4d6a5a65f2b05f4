// SPDX-License-Identifier: BSD-3-Clause
// What a kernel's entry says (list.hpp has the entries), and kernels found and built by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/choices.hpp"
#include "base/half.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/kernel.hpp"
#include "kernels/kernel_model.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct KernelChoice {
  std::string name;  // a registered kernel, or petsc-aij
  Device device = Device::cpu;
  Precision precision = Precision::full;
  Ordering ordering = Ordering::given;  // of the rows of each rank, within that rank
  std::string ghost_kernel{};           // multiplies by the ghost block; empty: `name` does
  bool precision_is_free = false;       // precision: auto. `precision` is full until a run begins
};

// Builds a kernel for a matrix in host memory. The arrays of `matrix` must outlive the kernel,
// because a kernel without a layout of its own keeps the view.
template <class Value>
using HostBuilder = std::unique_ptr<HostKernel<Value>> (*)(const CsrView<Value>& matrix);

// Builds a kernel for a matrix in the memory of the current device, whose arrays must outlive the
// kernel. The builder works in `stream` and synchronises it before it returns.
template <class Value>
using CudaBuilder = std::unique_ptr<CudaKernel<Value>> (*)(const DeviceCsr<Value>& matrix,
                                                           StreamRef stream);

struct KernelEntry {
  std::string_view name;
  std::string_view summary;  // one line for --list-kernels
  std::string_view paper;    // where the algorithm is from
  bool library = false;      // A library does the product: its memory accesses are not ours.
  bool peer = false;         // registered to compare with: kernel: auto does not try it
  // The kernel of its device that reads CSR as it is and refuses no matrix: what others are
  // measured against, and what multiplies by a block that another kernel refuses.
  bool plain = false;
  bool deterministic = true;  // Every run gives the same bits.
  // True where the host executor gives other bits with another number of threads.
  bool host_bits_follow_threads = false;

  // A null builder means that the kernel has no such executor for that value type.
  HostBuilder<double> host_double = nullptr;
  HostBuilder<float> host_float = nullptr;  // values, x and y in FP32, sums in FP64
  HostBuilder<std::int32_t> host_int = nullptr;
  HostBuilder<double> host_mixed = nullptr;  // values stored in FP32, x and y in FP64
  CudaBuilder<double> cuda_double = nullptr;
  CudaBuilder<float> cuda_float = nullptr;
  CudaBuilder<Half> cuda_half = nullptr;     // values, x and y in FP16, sums in FP32
  CudaBuilder<double> cuda_mixed = nullptr;  // values stored in FP32, x and y in FP64

  // Every kernel that is no peer has the model of each device on which it multiplies.
  std::optional<KernelModel> host_model{}, cuda_model{};
  // Bytes per nonzero that the layout takes beside the matrix, for forecasts of memory. 0: the
  // kernel reads the CSR arrays themselves. Layouts that pad or compress differ by up to a half.
  double host_layout_bytes = 12, cuda_layout_bytes = 12;
  // Whether the CUDA kernel reads only row_ptr of the CSR once it is built, so that col_idx and
  // values may go. They must come back for update_values(), which takes new values.
  bool cuda_copies_entries = false;

  // True where the kernel multiplies FP64 vectors on that device in that precision.
  constexpr bool runs_on(Device device, Precision precision = Precision::full) const {
    const bool mixed = precision == Precision::mixed;
    return device == Device::cpu ? (mixed ? host_mixed : host_double) != nullptr
                                 : (mixed ? cuda_mixed : cuda_double) != nullptr;
  }
  constexpr const std::optional<KernelModel>& model_on(Device device) const {
    return device == Device::cpu ? host_model : cuda_model;
  }

  template <class Value>
  HostBuilder<Value> host() const;
  template <class Value>
  CudaBuilder<Value> cuda() const;
};

std::span<const KernelEntry> kernel_registry();

// Says which kernels this build leaves out, for messages about an unknown name; empty where it has
// all.
std::string_view left_out_kernels();

// Throws Error{usage}, with the known names, when no kernel has this name.
const KernelEntry& find_kernel(std::string_view name);

// The kernel with KernelEntry::plain on this device.
const KernelEntry& plain_kernel(Device device);

// The kernel that kernel_bench compares the other kernels of this device with.
std::string_view benchmark_baseline(Device device);

// The four functions below throw Error{usage} when the kernel is unknown or has no such executor.
// A build without CUDA throws Error{resource} from those for CUDA.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_host_kernel(std::string_view name,
                                                     const CsrView<Value>& matrix);
template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cuda_kernel(std::string_view name,
                                                     const DeviceCsr<Value>& matrix,
                                                     StreamRef stream);

// Mixed precision: values are stored in FP32; x and y are in FP64.
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
