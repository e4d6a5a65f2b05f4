// SPDX-License-Identifier: BSD-3-Clause
// Measures CUDA kernels on one GPU: builds each kernel, checks it against the reference, and times
// it with events. The file compiles without CUDA; select_device() then throws Error{resource}.
#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "kernel_bench/check.hpp"
#include "kernel_bench/measurement.hpp"
#include "kernel_bench/quantiles.hpp"
#include "kernels/registry.hpp"
#include "planning/bandwidth.hpp"
#include "planning/break_even.hpp"
#include "sparse/reference.hpp"

namespace trireme::bench {
namespace {

constexpr int kWarmUp = 30;                 // products before timing starts
constexpr int kProducts = 1000;             // timed products, unless they take too long
constexpr double kMaxSeconds = 1.0;         // of timed products per kernel
constexpr double kBatchMicroseconds = 100;  // several shorter products share a pair of events
constexpr int kBuilds = 3;  // timed builds; an untimed one before them loads code and fills pools

// Stored is the type of the matrix values, Vector that of x and y.
template <class Stored, class Vector>
class CudaBench {
 public:
  using BuilderOf = CudaBuilder<Vector> KernelEntry::*;

  CudaBench(const CsrMatrix<double>& matrix, const Options& options, BuilderOf builder)
      : options_(options),
        builder_(builder),
        stored_values_(convert_values<Stored>(matrix)),
        a_{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx, stored_values_},
        x_(bench_vector<Vector>(matrix.cols)) {}

  Results run() {
    const DeviceProperties device = select_device();
    Stream stream;
    const double copy = measure_device_bandwidth();
    Results results{
        .bandwidth = {copy, fmt::format("device copy {:.0f} GB/s on {}", copy, device.name)},
        .baseline = std::string(benchmark_baseline(Device::cuda)),
        .rows = {},
        .skipped = {}};
    on_device_ = upload(stream);
    x_on_device_ = to_device(std::span<const Vector>(x_), stream);
    y_ = DeviceBuffer<Vector>(a_.rows, stream);
    flush_ = DeviceBuffer<char>(4 * device.l2_bytes, stream);
    for (const KernelEntry* entry : chosen_kernels()) {
      try {
        results.rows.push_back(measure(*entry, copy, stream));
      } catch (const Error& error) {
        if (error.code() != ExitCode::resource) throw;
        results.skipped.push_back(fmt::format("{}: {}", entry->name, error.what()));
      }
    }
    add_break_even(results);
    return results;
  }

 private:
  std::vector<const KernelEntry*> chosen_kernels() const {
    std::vector<const KernelEntry*> chosen;
    for (const std::string& name : options_.kernels) {
      const KernelEntry& entry = find_kernel(name);
      if (!(entry.*builder_))
        fail(ExitCode::usage, "kernel '{}' has no CUDA executor for {}; see solve --list-kernels",
             name, options_.precision);
      chosen.push_back(&entry);
    }
    if (options_.kernels.empty())
      for (const KernelEntry& entry : kernel_registry())
        if (entry.*builder_) chosen.push_back(&entry);
    return chosen;
  }

  // A builder takes the values as Vector and narrows them itself.
  DeviceCsrMatrix<Vector> upload(const Stream& stream) const {
    if constexpr (std::is_same_v<Stored, Vector>) {
      return to_device(a_, stream);
    } else {
      const Array<Vector> wide(stored_values_.begin(), stored_values_.end());
      return to_device(CsrView<Vector>{a_.rows, a_.cols, a_.row_ptr, a_.col_idx, wide}, stream);
    }
  }

  Measurement measure(const KernelEntry& entry, double bandwidth, const Stream& stream) {
    std::unique_ptr<CudaKernel<Vector>> kernel;
    std::vector<double> builds;
    for (int build = 0; build <= kBuilds; ++build) {
      kernel.reset();
      const Stopwatch watch;
      kernel = (entry.*builder_)(on_device_.view(), stream);
      synchronize(stream);
      if (build > 0) builds.push_back(1e3 * watch.seconds());
    }
    const ComparisonResult error = check(*kernel, stream);
    const KernelStatistics statistics = kernel->statistics();
    Measurement row{.kernel = std::string(entry.name),
                    .device = "cuda",
                    .precision = options_.precision,
                    .rows = a_.rows,
                    .cols = a_.cols,
                    .nnz = a_.nnz(),
                    .build_ms = quantile(builds, 0.5),
                    .bytes = statistics.stored_bytes,
                    .padding = statistics.padding_ratio,
                    .max_error = error.worst_ratio / kProductBoundFactor,
                    .worst_row = error.worst_row,
                    .deterministic = entry.deterministic};
    const std::vector<double> warm = warm_times(*kernel, stream);
    row.median_us = quantile(warm, 0.5);
    row.p05_us = quantile(warm, 0.05);
    row.p95_us = quantile(warm, 0.95);
    row.cold_us = quantile(cold_times(*kernel, stream), 0.5);
    row.update_us = quantile(update_times(*kernel, stream), 0.5);
    row.gflops = 2e-3 * static_cast<double>(row.nnz) / row.median_us;
    row.gbytes_per_s =
        1e-3 * static_cast<double>(product_bytes(row.bytes, row.rows, row.cols, sizeof(Vector))) /
        row.median_us;
    row.bandwidth_fraction = row.gbytes_per_s / bandwidth;
    return row;
  }

  ComparisonResult check(CudaKernel<Vector>& kernel, const Stream& stream) {
    fill_nan(y_.span(), stream);
    multiply(kernel, stream);
    const Array<Vector> y = to_host(y_.view(), stream);
    return compare_product<Stored, Vector>(a_, x_, y);
  }

  void multiply(CudaKernel<Vector>& kernel, const Stream& stream) {
    kernel.multiply(x_on_device_.view(), y_.span(), Accumulate::no, stream);
  }

  // Microseconds per product, measured over `batch` products between two events.
  double timed_batch(CudaKernel<Vector>& kernel, int batch, const Stream& stream) {
    start_.record(stream);
    for (int product = 0; product < batch; ++product) multiply(kernel, stream);
    stop_.record(stream);
    stop_.synchronize();
    return microseconds_between(start_, stop_) / batch;
  }

  std::vector<double> warm_times(CudaKernel<Vector>& kernel, const Stream& stream) {
    timed_batch(kernel, 3, stream);
    const double about = timed_batch(kernel, 3, stream);
    const int warm_up = std::clamp(static_cast<int>(1e5 / about), 3, kWarmUp);
    timed_batch(kernel, warm_up, stream);
    const int batch = std::clamp(static_cast<int>(kBatchMicroseconds / about), 1, 50);
    const int products = std::clamp(static_cast<int>(1e6 * kMaxSeconds / about), 10, kProducts);
    std::vector<double> times((products + batch - 1) / batch);
    for (double& time : times) time = timed_batch(kernel, batch, stream);
    return times;
  }

  std::vector<double> cold_times(CudaKernel<Vector>& kernel, const Stream& stream) {
    std::vector<double> times(options_.cold_products);
    for (double& time : times) {
      fill_zero(flush_.span(), stream);
      time = timed_batch(kernel, 1, stream);
    }
    return times;
  }

  std::vector<double> update_times(CudaKernel<Vector>& kernel, const Stream& stream) {
    std::vector<double> times(kUpdates + 1);
    for (double& time : times) {
      start_.record(stream);
      kernel.update_values(on_device_.values.view(), stream);
      stop_.record(stream);
      stop_.synchronize();
      time = microseconds_between(start_, stop_);
    }
    times.erase(times.begin());  // The first update also loads code.
    return times;
  }

  static void add_break_even(Results& results) {
    const auto baseline =
        std::find_if(results.rows.begin(), results.rows.end(),
                     [&](const auto& row) { return row.kernel == results.baseline; });
    if (baseline == results.rows.end()) return;
    for (Measurement& row : results.rows)
      row.break_even_products = break_even_products(
          {1e-3 * row.build_ms, row.median_us}, {1e-3 * baseline->build_ms, baseline->median_us});
  }

  const Options& options_;
  BuilderOf builder_;
  Array<Stored> stored_values_;
  CsrView<Stored> a_;
  Array<Vector> x_;
  DeviceCsrMatrix<Vector> on_device_;
  DeviceBuffer<Vector> x_on_device_, y_;
  DeviceBuffer<char> flush_;
  Event start_, stop_;
};

}  // namespace

Results measure_cuda(const CsrMatrix<double>& matrix, const Options& options) {
  select_device();
  if (options.precision == "double")
    return CudaBench<double, double>(matrix, options, &KernelEntry::cuda_double).run();
  if (options.precision == "float")
    return CudaBench<float, float>(matrix, options, &KernelEntry::cuda_float).run();
  if (options.precision == "half")
    return CudaBench<Half, Half>(matrix, options, &KernelEntry::cuda_half).run();
  if (options.precision == "mixed")
    return CudaBench<float, double>(matrix, options, &KernelEntry::cuda_mixed).run();
  fail(ExitCode::usage, "no CUDA kernel has precision '{}'; use double, float, half or mixed",
       options.precision);
}

}  // namespace trireme::bench
