// SPDX-License-Identifier: BSD-3-Clause
// Measures products of several vectors on one GPU, as measure_cuda.cpp measures those of one. The
// file compiles without CUDA; select_device() then throws Error{resource}.
#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/multi_vector.hpp"
#include "kernel_bench/check.hpp"
#include "kernel_bench/quantiles.hpp"
#include "kernel_bench/vectors.hpp"
#include "kernels/registry.hpp"
#include "planning/bandwidth.hpp"
#include "sparse/reference.hpp"

namespace trireme::bench {
namespace {

constexpr double kWarmUpPart = 0.1;  // of the time of the timed products, before them
constexpr int kMinTimes = 7, kMaxTimes = 300;
constexpr std::int64_t kCheckedVectors = 16;  // per product, from the first to the last

enum class Layout { side_by_side, one_after_the_other };

// Stored is the type of the matrix values, Vector that of X and Y.
template <class Stored, class Vector>
class CudaVectorsBench {
 public:
  using BuilderOf = CudaBuilder<Vector> KernelEntry::*;

  CudaVectorsBench(const CsrMatrix<double>& matrix, const Options& options, BuilderOf builder)
      : options_(options),
        builder_(builder),
        vectors_(options.vectors),
        stored_values_(convert_values<Stored>(matrix)),
        a_{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx, stored_values_},
        x_(bench_vector<Vector>(matrix.cols * vectors_)) {}

  VectorsResults run() {
    const DeviceProperties device = select_device();
    const Stream stream;
    const double copy = measure_device_bandwidth();
    VectorsResults results{
        .bandwidth = {copy, fmt::format("device copy {:.0f} GB/s on {}", copy, device.name)},
        .rows = {},
        .skipped = {}};
    on_device_ = upload(stream);
    x_on_device_ = to_device(std::span<const Vector>(x_), stream);
    y_ = DeviceBuffer<Vector>(a_.rows * vectors_, stream);
    for (const KernelEntry* entry : chosen_kernels()) {
      try {
        measure(*entry, results, stream);
      } catch (const Error& error) {
        if (error.code() != ExitCode::resource) throw;
        results.skipped.push_back(fmt::format("{}: {}", entry->name, error.what()));
      }
    }
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

  // Adds one row to the results; for a library, which takes both layouts, one row per layout.
  void measure(const KernelEntry& entry, VectorsResults& results, const Stream& stream) {
    const Stopwatch watch;
    const auto kernel = (entry.*builder_)(on_device_.view(), stream);
    synchronize(stream);
    const double build_ms = 1e3 * watch.seconds();
    const std::int64_t stored = kernel->statistics().stored_bytes;
    VectorsMeasurement row{.kernel = std::string(entry.name),
                           .device = "cuda",
                           .precision = options_.precision,
                           .rows = a_.rows,
                           .cols = a_.cols,
                           .nnz = a_.nnz(),
                           .vectors = vectors_,
                           .build_ms = build_ms,
                           .bytes = stored,
                           .moved_bytes = product_bytes(stored, a_.rows * vectors_,
                                                        a_.cols * vectors_, sizeof(Vector))};
    const auto singles = [&] { multiply_singles(*kernel, stream); };
    judge(Layout::one_after_the_other, singles, row, stream);
    row.singles_us = quantile(times(singles, stream), 0.5);
    if (!kernel->multiplies_vectors()) {
      results.rows.push_back(row);
      return;
    }
    for (const Layout layout : {Layout::side_by_side, Layout::one_after_the_other}) {
      VectorsMeasurement of_layout = row;
      if (layout == Layout::one_after_the_other) {
        if (!entry.library) break;
        of_layout.kernel += " cols";
      }
      const auto together = [&] {
        kernel->multi_multiply(view<const Vector>(x_on_device_.data(), a_.cols, layout),
                               view<Vector>(y_.data(), a_.rows, layout), Accumulate::no, stream);
      };
      judge(layout, together, of_layout, stream);
      of_layout.together_us = quantile(times(together, stream), 0.5);
      results.rows.push_back(of_layout);
    }
  }

  template <class Element>
  DeviceMultiVector<Element> view(Element* data, std::int64_t rows, Layout layout) const {
    if (layout == Layout::side_by_side) return {data, rows, vectors_, vectors_, 1};
    return {data, rows, vectors_, 1, std::max<std::int64_t>(rows, 1)};
  }

  void multiply_singles(CudaKernel<Vector>& kernel, const Stream& stream) {
    for (std::int64_t j = 0; j < vectors_; ++j)
      kernel.multiply(x_on_device_.view().subspan(j * a_.cols, a_.cols),
                      y_.span().subspan(j * a_.rows, a_.rows), Accumulate::no, stream);
  }

  // Checks up to kCheckedVectors vectors of the product, and keeps the worst error in `row`.
  template <class Work>
  void judge(Layout layout, Work&& product, VectorsMeasurement& row, const Stream& stream) {
    fill_nan(y_.span(), stream);
    product();
    const Array<Vector> y = to_host(y_.view(), stream);
    Array<Vector> one_x(a_.cols), one_y(a_.rows);
    const auto vector = [&](const Array<Vector>& all, std::int64_t j, Array<Vector>& one) {
      const auto size = static_cast<std::int64_t>(one.size());
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < size; ++i)
        one[i] = all[layout == Layout::side_by_side ? i * vectors_ + j : j * size + i];
    };
    const std::int64_t checked = std::min(vectors_, kCheckedVectors);
    for (std::int64_t k = 0; k < checked; ++k) {
      const std::int64_t j = checked > 1 ? k * (vectors_ - 1) / (checked - 1) : 0;
      vector(x_, j, one_x);
      vector(y, j, one_y);
      const ComparisonResult error = compare_product<Stored, Vector>(a_, one_x, one_y);
      const double in_bounds = error.worst_ratio / kProductBoundFactor;
      if (in_bounds <= row.max_error) continue;
      row.max_error = in_bounds;
      row.worst_row = error.worst_row;
      row.worst_vector = j;
    }
  }

  // Microseconds of each of several runs.
  template <class Work>
  std::vector<double> times(Work&& work, const Stream& stream) {
    timed(work, stream);
    const double about = std::max(timed(work, stream), 1.0);
    const double microseconds = 1e6 * options_.seconds;
    for (double spent = 0; spent < kWarmUpPart * microseconds; spent += about) work();
    std::vector<double> all(
        std::clamp(static_cast<int>(microseconds / about), kMinTimes, kMaxTimes));
    for (double& time : all) time = timed(work, stream);
    return all;
  }

  template <class Work>
  double timed(Work&& work, const Stream& stream) {
    start_.record(stream);
    work();
    stop_.record(stream);
    stop_.synchronize();
    return microseconds_between(start_, stop_);
  }

  const Options& options_;
  BuilderOf builder_;
  std::int64_t vectors_;
  Array<Stored> stored_values_;
  CsrView<Stored> a_;
  Array<Vector> x_;
  DeviceCsrMatrix<Vector> on_device_;
  DeviceBuffer<Vector> x_on_device_, y_;
  Event start_, stop_;
};

}  // namespace

VectorsResults measure_vectors_cuda(const CsrMatrix<double>& matrix, const Options& options) {
  select_device();
  if (options.precision == "double")
    return CudaVectorsBench<double, double>(matrix, options, &KernelEntry::cuda_double).run();
  if (options.precision == "float")
    return CudaVectorsBench<float, float>(matrix, options, &KernelEntry::cuda_float).run();
  if (options.precision == "half")
    return CudaVectorsBench<Half, Half>(matrix, options, &KernelEntry::cuda_half).run();
  if (options.precision == "mixed")
    return CudaVectorsBench<float, double>(matrix, options, &KernelEntry::cuda_mixed).run();
  fail(ExitCode::usage, "no CUDA kernel has precision '{}'; use double, float, half or mixed",
       options.precision);
}

}  // namespace trireme::bench
