// SPDX-License-Identifier: BSD-3-Clause
// What the measurements on the host have in common: the kernels, the precision, the clock and the
// bandwidth.
#pragma once

#include <omp.h>

#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "kernel_bench/check.hpp"
#include "kernel_bench/measurement.hpp"
#include "kernels/registry.hpp"
#include "planning/bandwidth.hpp"

namespace trireme::bench {

template <class Value>
using HostBuilderOf = HostBuilder<Value> KernelEntry::*;

template <class Value>
std::vector<const KernelEntry*> chosen_host_kernels(const Options& options,
                                                    HostBuilderOf<Value> builder) {
  std::vector<const KernelEntry*> chosen;
  for (const std::string& name : options.kernels) {
    chosen.push_back(&find_kernel(name));
    if (!(chosen.back()->*builder))
      fail(ExitCode::usage, "kernel '{}' has no CPU executor for {}; see solve --list-kernels",
           name, options.precision);
  }
  if (options.kernels.empty())
    for (const KernelEntry& entry : kernel_registry())
      if (entry.*builder) chosen.push_back(&entry);
  return chosen;
}

// Calls take(entry, kernel, seconds of the build) for each chosen kernel. Returns why kernels that
// refuse the matrix or lack memory are left out.
template <class Value, class Take>
std::vector<std::string> build_host_kernels(const Options& options, HostBuilderOf<Value> builder,
                                            const CsrView<Value>& matrix, Take&& take) {
  std::vector<std::string> skipped;
  for (const KernelEntry* entry : chosen_host_kernels<Value>(options, builder)) try {
      const Stopwatch watch;
      auto kernel = (entry->*builder)(matrix);
      take(entry, std::move(kernel), watch.seconds());
    } catch (const Error& error) {
      if (error.code() != ExitCode::resource) throw;
      skipped.push_back(fmt::format("{}: {}", entry->name, error.what()));
    }
  return skipped;
}

// Rounds the values to FP32, so that the exact product is the same in double and in mixed
// precision.
inline Array<double> rounded(Array<double> values) {
  for (double& value : values) value = static_cast<double>(static_cast<float>(value));
  return values;
}

// Calls bench(values, builder) with the values of the matrix in the precision of the options.
// Throws Error{usage} for a precision that no kernel has on the host.
template <class Bench>
auto in_host_precision(const CsrMatrix<double>& matrix, const Options& options, Bench&& bench) {
  if (options.cpu_clock && omp_get_max_threads() > 1)
    fail(ExitCode::usage, "the CPU clock counts one thread; set OMP_NUM_THREADS=1");
  if (options.precision == "double")
    return bench(convert_values<double>(matrix), &KernelEntry::host_double);
  if (options.precision == "float")
    return bench(convert_values<float>(matrix), &KernelEntry::host_float);
  if (options.precision == "int")
    return bench(convert_values<std::int32_t>(matrix), &KernelEntry::host_int);
  if (options.precision == "mixed")
    return bench(rounded(convert_values<double>(matrix)), &KernelEntry::host_mixed);
  fail(ExitCode::usage, "no CPU kernel has precision '{}'; use double, float, int or mixed",
       options.precision);
}

// The seconds that work() takes.
template <class Work>
double host_seconds(const Options& options, Work&& work) {
  const auto now = [&] {
    timespec time = {};
    clock_gettime(options.cpu_clock ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

inline Bandwidth host_bandwidth() {
  const HostBandwidth measured = measure_host_bandwidth();
  return {measured.best(),
          fmt::format("best of copy {:.1f}, triad {:.1f}, read {:.1f} GB/s; {} threads",
                      measured.copy, measured.triad, measured.read, measured.threads)};
}

}  // namespace trireme::bench
