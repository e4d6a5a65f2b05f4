// SPDX-License-Identifier: BSD-3-Clause
// The list of all kernels. To add a kernel, write its folder and add its entry to kOwnKernels, or
// to the list of peers/ where it is there to be compared with.
#include "kernels/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "kernels/albus/albus.hpp"
#include "kernels/albus/baselines.hpp"
#include "kernels/csr/csr.hpp"
#include "kernels/cusparse/cusparse.hpp"
#include "kernels/dasp/dasp.hpp"
#include "kernels/on_cuda.hpp"
#ifdef TRIREME_WITH_PEERS
#include "kernels/peers/list.hpp"
#endif
#include "kernels/sell/sell.hpp"
#include "kernels/teb/teb.hpp"

namespace trireme {
namespace {

constexpr std::array kOwnKernels = {
    KernelEntry{.name = "csr",
                .summary = "row loop over CSR, equal rows per thread: the reference, ALBUS's spmv3",
                .paper = "Saad 2003, section 3.4",
                .plain = true,
                .host_double = build_csr_host<double>,
                .host_float = build_csr_host<float>,
                .host_int = build_csr_host<std::int32_t>,
                .host_mixed = build_csr_mixed_host,
                .host_model = KernelModel{.of_bandwidth = 0.80,
                                          .start_us = 1,
                                          .per_long_row_us = 0.001,
                                          .uncertainty = 0.25,
                                          .build_us = 1},
                .host_layout_bytes = 0},
    KernelEntry{
        .name = "albus",
        .summary = "equal nonzeros per thread, rows cut where a share ends, SIMD",
        .paper = "Bian et al. 2021, FGCS 116",
        .host_bits_follow_threads = true,
        .host_double = build_albus_host<double>,
        .host_float = build_albus_host<float>,
        .host_int = build_albus_host<std::int32_t>,
        .host_mixed = build_albus_mixed_host,
        .cuda_double = on_cuda<double>(build_albus_cuda),
        .cuda_float = on_cuda<float>(build_albus_cuda),
        .cuda_half = on_cuda<Half>(build_albus_cuda),
        .cuda_mixed = on_cuda<double>(build_albus_mixed_cuda),
        .host_model = KernelModel{.column_bytes = 3.6,
                                  .of_bandwidth = 0.90,
                                  .start_us = 2,
                                  .uncertainty = 0.25,
                                  .build_bytes = 2,
                                  .build_us = 20},
        .cuda_model =
            KernelModel{.of_bandwidth = 0.66, .start_us = 7, .uncertainty = 0.25, .build_us = 30},
        .host_layout_bytes = 8,
        .cuda_layout_bytes = 0},
    KernelEntry{.name = "sell",
                .summary = "rows in slices, 16-bit columns and FP32 values where exact",
                .paper = "Kreutzer et al. 2014, SELL-C-sigma",
                .host_double = build_sell_host<double>,
                .host_float = build_sell_host<float>,
                .cuda_double = on_cuda<double>(build_sell_cuda),
                .cuda_float = on_cuda<float>(build_sell_cuda),
                .cuda_half = on_cuda<Half>(build_sell_cuda),
                .cuda_mixed = on_cuda<double>(build_sell_mixed_cuda),
                .host_model = KernelModel{.of_bandwidth = 0.60,
                                          .start_us = 2,
                                          .uncertainty = 0.4,
                                          .build_bytes = 12,
                                          .build_us = 50},
                .cuda_model = KernelModel{.column_bytes = 2.2,
                                          .of_bandwidth = 0.83,
                                          .start_us = 5,
                                          .per_mean_row_us = 0.17,
                                          .build_bytes = 8,
                                          .build_us = 200,
                                          .stores_exact_floats = true,
                                          .numbers_patterns = true}},
    KernelEntry{
        .name = "csr-scalar",
        .summary = "CSR on CUDA, one thread per row",
        .paper = "Bell and Garland, SC 2009",
        .cuda_double = on_cuda<double>(build_csr_scalar_cuda),
        .cuda_float = on_cuda<float>(build_csr_scalar_cuda),
        .cuda_half = on_cuda<Half>(build_csr_scalar_cuda),
        .cuda_model =
            KernelModel{
                .of_bandwidth = 0.60, .start_us = 3, .per_long_row_us = 0.1, .build_us = 10},
        .cuda_layout_bytes = 0},
    KernelEntry{.name = "csr-vector",
                .summary = "CSR on CUDA, 2 to 32 threads per row by the mean row length",
                .paper = "Bell and Garland, SC 2009",
                .plain = true,
                .cuda_double = on_cuda<double>(build_csr_vector_cuda),
                .cuda_float = on_cuda<float>(build_csr_vector_cuda),
                .cuda_half = on_cuda<Half>(build_csr_vector_cuda),
                .cuda_mixed = on_cuda<double>(build_csr_vector_mixed_cuda),
                .cuda_model = KernelModel{.of_bandwidth = 0.68,
                                          .gain_of_long_rows = 0.14,
                                          .start_us = 3,
                                          .per_long_row_us = 0.035,
                                          .uncertainty = 0.25,
                                          .build_us = 10},
                .cuda_layout_bytes = 0},
    KernelEntry{.name = "dasp",
                .summary = "rows classed by length, stored as 8 x 4 blocks for matrix units",
                .paper = "Lu, Liu 2023 (SC), DASP",
                .host_double = build_dasp_host<double>,
                .host_float = build_dasp_host<float>,
                .cuda_double = on_cuda<double>(build_dasp_cuda),
                .cuda_float = on_cuda<float>(build_dasp_cuda),
                .cuda_half = on_cuda<Half>(build_dasp_cuda),
                .cuda_mixed = on_cuda<double>(build_dasp_mixed_cuda),
                .host_model = KernelModel{.of_bandwidth = 0.55,
                                          .start_us = 2,
                                          .uncertainty = 0.4,
                                          .build_bytes = 12,
                                          .build_us = 50},
                .cuda_model = KernelModel{.column_bytes = 2.2,
                                          .row_bytes = 2,
                                          .of_bandwidth = 0.87,
                                          .of_bandwidth_beyond = 0.55,
                                          .start_us = 4.5,
                                          .build_bytes = 8,
                                          .build_us = 250}},
    KernelEntry{
        .name = "teb",
        .summary = "rows exchanged by length, merged into blocks of about equal nonzeros",
        .paper = "Wang et al. 2023, TEB",
        .host_double = build_teb_host<double>,
        .host_float = build_teb_host<float>,
        .cuda_double = on_cuda<double>(build_teb_cuda),
        .cuda_float = on_cuda<float>(build_teb_cuda),
        .cuda_mixed = on_cuda<double>(build_teb_mixed_cuda),
        .host_model = KernelModel{.of_bandwidth = 0.55,
                                  .start_us = 2,
                                  .uncertainty = 0.4,
                                  .build_bytes = 12,
                                  .build_us = 50},
        .cuda_model =
            KernelModel{.of_bandwidth = 0.68, .start_us = 5, .build_bytes = 8, .build_us = 300}},
    KernelEntry{.name = "albus-naive",
                .summary = "ALBUS's baseline: plain row loop over CSR in one thread",
                .paper = "Bian et al. 2021, FGCS 116",
                .peer = true,
                .host_double = build_albus_naive_host<double>,
                .host_float = build_albus_naive_host<float>,
                .host_int = build_albus_naive_host<std::int32_t>,
                .host_layout_bytes = 0},
    KernelEntry{.name = "albus-simd",
                .summary = "ALBUS's baseline: rows of CSR by SIMD in one thread",
                .paper = "Bian et al. 2021, FGCS 116",
                .peer = true,
                .host_double = build_albus_simd_host<double>,
                .host_float = build_albus_simd_host<float>,
                .host_int = build_albus_simd_host<std::int32_t>,
                .host_layout_bytes = 0},
    KernelEntry{.name = "albus-threads",
                .summary = "ALBUS's baseline: equal nonzeros of CSR per thread, no SIMD",
                .paper = "Bian et al. 2021, FGCS 116",
                .peer = true,
                .host_bits_follow_threads = true,
                .host_double = build_albus_threads_host<double>,
                .host_float = build_albus_threads_host<float>,
                .host_int = build_albus_threads_host<std::int32_t>,
                .host_layout_bytes = 0},
    KernelEntry{
        .name = "cusparse-csr",
        .summary = "cuSPARSE CSR, default algorithm with preprocessing: the GPU baseline",
        .paper = "NVIDIA cuSPARSE, ALG1",
        .library = true,
        .deterministic = false,
        .cuda_double = on_cuda<double>(build_cusparse_csr),
        .cuda_float = on_cuda<float>(build_cusparse_csr),
        .cuda_half = on_cuda<Half>(build_cusparse_csr),
        .cuda_mixed = on_cuda<double>(build_cusparse_csr_mixed),
        .cuda_model =
            KernelModel{.of_bandwidth = 0.62, .start_us = 8, .build_bytes = 1, .build_us = 7000},
        .cuda_layout_bytes = 0},
    KernelEntry{
        .name = "cusparse-csr-alg2",
        .summary = "cuSPARSE CSR, deterministic algorithm",
        .paper = "NVIDIA cuSPARSE, ALG2",
        .library = true,
        .cuda_double = on_cuda<double>(build_cusparse_csr_alg2),
        .cuda_float = on_cuda<float>(build_cusparse_csr_alg2),
        .cuda_half = on_cuda<Half>(build_cusparse_csr_alg2),
        .cuda_model =
            KernelModel{.of_bandwidth = 0.50, .start_us = 15, .build_bytes = 1, .build_us = 7000},
        .cuda_layout_bytes = 0},
    KernelEntry{.name = "cusparse-coo",
                .summary = "cuSPARSE COO, default algorithm",
                .paper = "NVIDIA cuSPARSE, COO ALG1",
                .library = true,
                .deterministic = false,
                .cuda_double = on_cuda<double>(build_cusparse_coo),
                .cuda_float = on_cuda<float>(build_cusparse_coo),
                .cuda_model = KernelModel{.column_bytes = 8,
                                          .row_bytes = 0,
                                          .of_bandwidth = 0.72,
                                          .start_us = 8,
                                          .build_bytes = 1,
                                          .build_us = 7000}},
    KernelEntry{.name = "cusparse-sell",
                .summary = "cuSPARSE sliced ELLPACK, 32 rows per slice",
                .paper = "NVIDIA cuSPARSE, SELL",
                .library = true,
                .deterministic = false,
                .cuda_double = on_cuda<double>(build_cusparse_sell),
                .cuda_float = on_cuda<float>(build_cusparse_sell),
                .cuda_half = on_cuda<Half>(build_cusparse_sell),
                .cuda_model = KernelModel{.row_bytes = 2,
                                          .of_bandwidth = 0.85,
                                          .start_us = 5,
                                          .per_long_row_us = 0.1,
                                          .build_bytes = 8,
                                          .build_us = 7500}},
    KernelEntry{.name = "cusparse-bsr",
                .summary = "cuSPARSE block CSR with the block size that stores the fewest bytes",
                .paper = "NVIDIA cuSPARSE, BSR",
                .library = true,
                .deterministic = false,
                .cuda_double = on_cuda<double>(build_cusparse_bsr),
                .cuda_float = on_cuda<float>(build_cusparse_bsr),
                .cuda_model = KernelModel{.value_bytes = 12,
                                          .column_bytes = 1,
                                          .row_bytes = 0,
                                          .of_bandwidth = 0.40,
                                          .start_us = 8,
                                          .build_bytes = 30,
                                          .build_us = 8000}},
    KernelEntry{.name = "cusparse-spmm",
                .summary = "cuSPARSE products of vectors in CSR, default algorithm",
                .paper = "NVIDIA cuSPARSE, SpMM",
                .library = true,
                .peer = true,
                .deterministic = false,
                .cuda_double = on_cuda<double>(build_cusparse_spmm),
                .cuda_float = on_cuda<float>(build_cusparse_spmm),
                .cuda_layout_bytes = 0},
    KernelEntry{.name = "cusparse-spmm-1",
                .summary = "cuSPARSE products of vectors in CSR, algorithm 1",
                .paper = "NVIDIA cuSPARSE, SpMM",
                .library = true,
                .peer = true,
                .deterministic = false,
                .cuda_double = on_cuda<double>(build_cusparse_spmm_alg1),
                .cuda_float = on_cuda<float>(build_cusparse_spmm_alg1),
                .cuda_layout_bytes = 0},
    KernelEntry{.name = "cusparse-spmm-2",
                .summary = "cuSPARSE products of vectors in CSR, algorithm 2",
                .paper = "NVIDIA cuSPARSE, SpMM",
                .library = true,
                .peer = true,
                .deterministic = false,
                .cuda_double = on_cuda<double>(build_cusparse_spmm_alg2),
                .cuda_float = on_cuda<float>(build_cusparse_spmm_alg2),
                .cuda_layout_bytes = 0},
    KernelEntry{.name = "cusparse-spmm-3",
                .summary = "cuSPARSE products of vectors in CSR, algorithm 3",
                .paper = "NVIDIA cuSPARSE, SpMM",
                .library = true,
                .peer = true,
                .deterministic = false,
                .cuda_double = on_cuda<double>(build_cusparse_spmm_alg3),
                .cuda_float = on_cuda<float>(build_cusparse_spmm_alg3),
                .cuda_layout_bytes = 0},
};

#ifndef __SANITIZE_ADDRESS__  // under which GCC compares addresses of functions at run time only
// What `kernel: auto` may take is never ranked by figures of another kernel.
constexpr bool all_have_models() {
  return std::ranges::all_of(kOwnKernels, [](const KernelEntry& kernel) {
    return kernel.peer || ((!kernel.runs_on(Device::cpu) || kernel.host_model.has_value()) &&
                           (!kernel.runs_on(Device::cuda) || kernel.cuda_model.has_value()));
  });
}
static_assert(all_have_models(), "a kernel that is no peer has a model of each of its devices");
#endif

#ifdef TRIREME_WITH_PEERS
constexpr auto kKernels = [] {
  std::array<KernelEntry, kOwnKernels.size() + kPeerKernels.size()> all;
  std::ranges::copy(kPeerKernels, std::ranges::copy(kOwnKernels, all.begin()).out);
  return all;
}();
constexpr std::string_view kLeftOut;
#else
constexpr auto kKernels = kOwnKernels;
constexpr std::string_view kLeftOut =
    "this program was built without the kernels to compare with (TRIREME_PEERS=OFF)";
#endif

constexpr std::string_view kCudaBaseline = "cusparse-csr";

std::string known_names() {
  std::vector<std::string_view> names;
  for (const KernelEntry& entry : kKernels) names.push_back(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

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

std::span<const KernelEntry> kernel_registry() { return kKernels; }

std::string_view left_out_kernels() { return kLeftOut; }

const KernelEntry& plain_kernel(Device device) {
  return *std::ranges::find_if(kOwnKernels, [device](const KernelEntry& kernel) {
    return kernel.plain && kernel.model_on(device).has_value();
  });
}

std::string_view benchmark_baseline(Device device) {
  return device == Device::cpu ? plain_kernel(device).name : kCudaBaseline;
}

const KernelEntry& find_kernel(std::string_view name) {
  for (const KernelEntry& kernel : kKernels)
    if (kernel.name == name) return kernel;
  fail(ExitCode::usage, "unknown kernel '{}'; known kernels: {}{}{}", name, known_names(),
       kLeftOut.empty() ? "" : "; ", kLeftOut);
}

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
