// SPDX-License-Identifier: BSD-3-Clause
// Times incomplete factors on a GPU beside those of cuSPARSE.
//
//   factors_bench [levels=0] [order=given|rcm|colours] [definite] [variants] [alone] MATRIX ...
//
// A MATRIX is GENERATOR:N or a file of any format that `solve` reads. There is one row per matrix:
// milliseconds of the analysis of the pattern on the host, of making the factors for the first time
// and of renewing their numbers, then microseconds of one application (both sweeps) by one block,
// by the grid and by the kernel that the rule chooses. For cuSPARSE there are milliseconds of
// csrilu02 (analysis, numbers) and of the analysis of SpSV (both triangles in FP64), and
// microseconds of both solves in FP64 and in FP32, and of the product by cuSPARSE's CSR as a unit.
// `variants` times the settings of the kernels as well, and `alone` leaves cuSPARSE out.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/stopwatch.hpp"
#include "cusparse_factors.hpp"
#include "device/device.hpp"
#include "factors/cuda/device_factors.hpp"
#include "kernels/registry.hpp"
#include "named_matrix.hpp"

namespace {

using namespace trireme;
using namespace trireme::factors;

struct Settings {
  IluChoice choice;
  bool definite = false;
  bool variants = false, alone = false;
};

// Microseconds per call of enqueue(), the least of three rounds.
template <class Enqueue>
double microseconds_of(const Enqueue& enqueue, StreamRef stream) {
  const Event start, stop;
  const auto round = [&](int calls) {
    start.record(stream);
    for (int k = 0; k < calls; ++k) enqueue();
    stop.record(stream);
    stop.synchronize();
    return microseconds_between(start, stop) / calls;
  };
  const double first = std::min(round(1), round(1));
  const int calls = std::clamp(static_cast<int>(1e4 / std::max(first, 1.0)), 1, 50);
  return std::min({round(calls), round(calls), round(calls)});
}

class Bench {
 public:
  Bench(const std::string& name, const Settings& settings)
      : settings_(settings),
        host_(named_matrix(name)),
        a_(to_device(host_.view(), stream_)),
        r_(to_device(std::span<const double>(Array<double>(host_.rows, 1.0)), stream_)),
        z_(static_cast<std::size_t>(host_.rows), stream_) {
    stream_.synchronize();
    const Stopwatch watch;
    pattern_ = make_pattern(host_.view(), settings_.choice);
    fmt::print("{:<22}{:>9}{:>10}{:>7}{:>7}{:>9.2f}", std::filesystem::path(name).stem().string(),
               host_.rows, pattern_.nnz(), pattern_.lower.count(), pattern_.upper.count(),
               watch.seconds() * 1e3);
  }

  void run() {
    time_ours();
    if (!settings_.alone) time_cusparse();
    fmt::print("\n");
    if (settings_.variants) time_variants();
    std::fflush(stdout);
  }

 private:
  std::unique_ptr<DeviceFactors> made(const SweepOptions& options) {
    return DeviceFactors::make(pattern_, a_.view(), settings_.definite, options);
  }
  double application_us(DeviceFactors& factors) {
    return microseconds_of([&] { factors.enqueue(r_.view(), z_.span(), stream_); }, stream_);
  }
  // NaN where the system is too large for the kernel.
  double application_us(const SweepOptions& options) {
    const auto factors = made(options);
    return factors->facts().kernel == options.kernel ? application_us(*factors) : NAN;
  }

  void time_ours() {
    const Stopwatch watch;
    const auto factors = made({});
    fmt::print("{:>9.2f}", watch.seconds() * 1e3);
    double renewal_ms = INFINITY;
    for (int k = 0; k < 3; ++k) {
      const Stopwatch renewal;
      factors->renew(a_.view());
      renewal_ms = std::min(renewal_ms, renewal.seconds() * 1e3);
    }
    const DeviceFacts facts = factors->facts();
    fmt::print("{:>9.2f} |{:>10.1f}{:>10.1f}{:>10.1f} {:5} {} {}/{:.2g} |", renewal_ms,
               application_us({.kernel = SweepKernel::one_block}),
               application_us({.kernel = SweepKernel::grid}), application_us(*factors),
               facts.kernel == SweepKernel::grid ? "grid" : "block",
               facts.in_fp32 ? "fp32" : "fp64", facts.replaced, facts.shift);
  }

  void time_cusparse() try {
    const bench::Cusparse library(stream_);
    const auto row_ptr = to_device(std::span<const std::int32_t>(pattern_.row_ptr), stream_);
    const auto col_idx = to_device(std::span<const std::int32_t>(pattern_.col_idx), stream_);
    Array<double> of_a(pattern_.nnz(), 0.0);
    for (std::int64_t k = 0; k < host_.nnz(); ++k) of_a[pattern_.place[k]] += host_.values[k];
    const auto values = to_device(std::span<const double>(of_a), stream_);
    const bench::Csr csr{pattern_, row_ptr, col_idx};
    const bench::IluTimes ilu = bench::make_ilu(library, csr, of_a, values, stream_);
    fmt::print("{:>9.2f}{:>9.2f}", ilu.analysis_ms, ilu.numbers_ms);
    const Array<double> lu = to_host(values.view(), stream_);
    time_solves<double>(library, csr, lu, true);
    time_solves<float>(library, csr, lu, false);
    const auto product = build_cuda_kernel<double>("cusparse-csr", a_.view(), stream_);
    fmt::print(
        "{:>8.1f}",
        microseconds_of([&] { product->multiply(r_.view(), z_.span(), Accumulate::no, stream_); },
                        stream_));
  } catch (const Error& error) {
    fmt::print("  {}", error.what());
  }

  template <class Value>
  void time_solves(const bench::Cusparse& library, const bench::Csr& csr, const Array<double>& lu,
                   bool with_analysis) {
    const Array<Value> rounded(lu.begin(), lu.end()), ones(host_.rows, Value{1});
    const auto values = to_device(std::span<const Value>(rounded), stream_);
    const auto r = to_device(std::span<const Value>(ones), stream_);
    const DeviceBuffer<Value> y(r.size(), stream_), z(r.size(), stream_);
    const bench::TriangularSolve<Value> lower(library, csr, values, true, r, y, stream_);
    const bench::TriangularSolve<Value> upper(library, csr, values, false, y, z, stream_);
    if (with_analysis) fmt::print("{:>9.2f}", lower.analysis_ms() + upper.analysis_ms());
    fmt::print("{:>10.1f}", microseconds_of(
                                [&] {
                                  lower.enqueue();
                                  upper.enqueue();
                                },
                                stream_));
  }

  void time_variants() {
    fmt::print("    block, threads:");
    for (const int threads : {256, 512, 1024})
      fmt::print(" {} {:.1f}", threads,
                 application_us({.kernel = SweepKernel::one_block, .threads = threads}));
    fmt::print("; grid, warps:");
    for (const int warps : {64, 128, 256, 528, 1056, 2112, 4224, 8448})
      fmt::print(" {} {:.1f}", warps,
                 application_us({.kernel = SweepKernel::grid, .warps = warps}));
    fmt::print("\n");
  }

  Settings settings_;
  Stream stream_;
  CsrMatrix<double> host_;
  DeviceCsrMatrix<double> a_;
  DeviceBuffer<double> r_, z_;
  FactorPattern pattern_;
};

void print_head() {
  fmt::print(
      "{:<22}{:>9}{:>10}{:>7}{:>7}{:>9}{:>9}{:>9} |{:>10}{:>10}{:>10} {:17} |{:>9}{:>9}"
      "{:>9}{:>10}{:>10}{:>8}\n",
      "matrix", "rows", "nnz", "lev L", "lev U", "host ms", "make ms", "renew ms", "block us",
      "grid us", "chosen us", "", "csrilu an", "csrilu ms", "SpSV an", "SpSV us", "FP32 us",
      "SpMV us");
}

Settings read_settings(std::vector<std::string>& arguments) {
  Settings settings;
  std::erase_if(arguments, [&](const std::string& argument) {
    if (argument == "definite") return settings.definite = true;
    if (argument == "variants") return settings.variants = true;
    if (argument == "alone") return settings.alone = true;
    if (argument.starts_with("levels=")) {
      settings.choice.levels = std::stoi(argument.substr(7));
      return true;
    }
    if (!argument.starts_with("order=")) return false;
    const std::string order = argument.substr(6);
    settings.choice.order = order == "rcm"       ? RowOrder::rcm
                            : order == "colours" ? RowOrder::colours
                                                 : RowOrder::given;
    return true;
  });
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  int status = arguments.empty() ? 2 : 0;
  try {
    const Settings settings = read_settings(arguments);
    select_device();
    print_head();
    for (const std::string& name : arguments) Bench(name, settings).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "factors_bench: {}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
