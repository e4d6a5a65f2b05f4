// SPDX-License-Identifier: BSD-3-Clause
// Measures host kernels. All kernels are built and checked, and then timed in turns, so that a slow
// period of the machine affects all of them.
#include <omp.h>

#include <algorithm>
#include <memory>

#include "base/stopwatch.hpp"
#include "kernel_bench/check.hpp"
#include "kernel_bench/host_bench.hpp"
#include "kernel_bench/measurement.hpp"
#include "kernel_bench/quantiles.hpp"
#include "kernels/registry.hpp"
#include "planning/bandwidth.hpp"
#include "planning/break_even.hpp"
#include "sparse/reference.hpp"

namespace trireme::bench {
namespace {

constexpr double kTurnSeconds = 2e-3;          // of timed products per turn of a kernel
constexpr std::size_t kFlushBytes = 64 << 20;  // written before each cold product

template <class Value>
struct Candidate {
  const KernelEntry* entry;
  std::unique_ptr<HostKernel<Value>> kernel;
  double build_seconds = 0;
  std::vector<double> warm, cold;  // seconds per product
  std::vector<double> updates;     // seconds per update_values()
};

template <class Value>
class HostBench {
 public:
  HostBench(const CsrMatrix<double>& matrix, Array<Value> values, const Options& options,
            HostBuilderOf<Value> builder)
      : options_(options),
        builder_(builder),
        values_(std::move(values)),
        a_{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx, values_},
        x_(bench_vector<Value>(matrix.cols)),
        y_(matrix.rows) {}

  Results run() {
    Results results{.bandwidth = host_bandwidth(),
                    .baseline = std::string(benchmark_baseline(Device::cpu)),
                    .rows = {},
                    .skipped = {}};
    results.skipped = build_host_kernels<Value>(
        options_, builder_, a_, [&](const KernelEntry* entry, auto kernel, double seconds) {
          candidates_.push_back({entry, std::move(kernel), seconds, {}, {}, {}});
        });
    for (Candidate<Value>& candidate : candidates_) results.rows.push_back(check(candidate));
    time_warm();
    time_cold();
    time_updates();
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      fill_times(candidates_[i], results.bandwidth.gbytes_per_s, results.rows[i]);
    return results;
  }

 private:
  Measurement check(Candidate<Value>& candidate) {
    std::fill(y_.begin(), y_.end(), poison<Value>());
    candidate.kernel->multiply(x_, y_, Accumulate::no);
    const ComparisonResult error = compare_product<Value>(a_, x_, y_);
    const KernelStatistics statistics = candidate.kernel->statistics();
    return {.kernel = std::string(candidate.entry->name),
            .device = "cpu",
            .precision = options_.precision,
            .rows = a_.rows,
            .cols = a_.cols,
            .nnz = a_.nnz(),
            .build_ms = 1e3 * candidate.build_seconds,
            .bytes = statistics.stored_bytes,
            .padding = statistics.padding_ratio,
            .max_error = error.worst_ratio / kProductBoundFactor,
            .worst_row = error.worst_row,
            .deterministic = candidate.entry->deterministic};
  }

  double timed_product(Candidate<Value>& candidate) {
    return host_seconds(options_, [&] { candidate.kernel->multiply(x_, y_, Accumulate::no); });
  }

  // In each turn an untimed product first brings the layout back into the caches. Then products are
  // timed for kTurnSeconds.
  void time_warm() {
    if (candidates_.empty()) return;
    double spent = 0;  // sum over the rounds of the shortest turn
    while (spent < options_.seconds ||
           candidates_.front().warm.size() < static_cast<std::size_t>(options_.products)) {
      double shortest_turn = 1e300;
      for (Candidate<Value>& candidate : candidates_) {
        timed_product(candidate);
        const Stopwatch turn;
        do candidate.warm.push_back(timed_product(candidate));
        while (turn.seconds() < kTurnSeconds);
        shortest_turn = std::min(shortest_turn, turn.seconds());
      }
      spent += shortest_turn;
    }
  }

  void time_cold() {
    Array<double> stream(kFlushBytes / sizeof(double));
    for (int product = 0; product < options_.cold_products; ++product)
      for (Candidate<Value>& candidate : candidates_) {
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < stream.size(); ++i) stream[i] = static_cast<double>(product);
        candidate.cold.push_back(timed_product(candidate));
      }
  }

  // As in a sequence of solves, products lie between two updates.
  void time_updates() {
    for (int update = 0; update < kUpdates; ++update)
      for (Candidate<Value>& candidate : candidates_) {
        timed_product(candidate);
        candidate.updates.push_back(
            host_seconds(options_, [&] { candidate.kernel->update_values(values_); }));
      }
  }

  void fill_times(const Candidate<Value>& candidate, double bandwidth, Measurement& row) const {
    const double median = quantile(candidate.warm, 0.5);
    row.median_us = 1e6 * median;
    row.p05_us = 1e6 * quantile(candidate.warm, 0.05);
    row.p95_us = 1e6 * quantile(candidate.warm, 0.95);
    row.cold_us = 1e6 * quantile(candidate.cold, 0.5);
    row.update_us = 1e6 * quantile(candidate.updates, 0.5);
    row.gflops = 2e-9 * static_cast<double>(row.nnz) / median;
    row.gbytes_per_s =
        1e-9 * static_cast<double>(product_bytes(row.bytes, row.rows, row.cols, sizeof(Value))) /
        median;
    row.bandwidth_fraction = row.gbytes_per_s / bandwidth;
    for (const Candidate<Value>& baseline : candidates_)
      if (baseline.entry->name == benchmark_baseline(Device::cpu))
        row.break_even_products =
            break_even_products({candidate.build_seconds, row.median_us},
                                {baseline.build_seconds, 1e6 * quantile(baseline.warm, 0.5)});
  }

  const Options& options_;
  HostBuilderOf<Value> builder_;
  Array<Value> values_;
  CsrView<Value> a_;
  Array<Value> x_, y_;
  std::vector<Candidate<Value>> candidates_;
};

}  // namespace

Results measure_host(const CsrMatrix<double>& matrix, const Options& options) {
  return in_host_precision(
      matrix, options, [&]<class Value>(Array<Value> values, HostBuilderOf<Value> builder) {
        return HostBench<Value>(matrix, std::move(values), options, builder).run();
      });
}

}  // namespace trireme::bench
