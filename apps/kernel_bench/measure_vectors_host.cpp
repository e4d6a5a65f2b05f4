// SPDX-License-Identifier: BSD-3-Clause
// Measures products of several vectors on the host. All kernels are built and checked, and then
// timed in turns, as in measure_host.cpp.
#include <algorithm>
#include <memory>

#include "base/stopwatch.hpp"
#include "kernel_bench/check.hpp"
#include "kernel_bench/host_bench.hpp"
#include "kernel_bench/quantiles.hpp"
#include "kernel_bench/vectors.hpp"
#include "kernels/multi_product.hpp"
#include "sparse/reference.hpp"

namespace trireme::bench {
namespace {

constexpr std::size_t kMinRounds = 5;

template <class Value>
struct VectorsCandidate {
  const KernelEntry* entry;
  std::unique_ptr<HostKernel<Value>> kernel;
  double build_seconds = 0;
  std::vector<double> singles, together;  // seconds per N vectors
};

template <class Value>
class HostVectorsBench {
 public:
  HostVectorsBench(const CsrMatrix<double>& matrix, Array<Value> values, const Options& options,
                   HostBuilderOf<Value> builder)
      : options_(options),
        builder_(builder),
        vectors_(options.vectors),
        values_(std::move(values)),
        a_{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx, values_},
        x_(bench_vector<Value>(matrix.cols * vectors_)),
        y_(matrix.rows * vectors_) {}

  VectorsResults run() {
    VectorsResults results{.bandwidth = host_bandwidth(), .rows = {}, .skipped = {}};
    results.skipped = build_host_kernels<Value>(
        options_, builder_, a_, [&](const KernelEntry* entry, auto kernel, double seconds) {
          candidates_.push_back({entry, std::move(kernel), seconds, {}, {}});
        });
    for (VectorsCandidate<Value>& candidate : candidates_) results.rows.push_back(check(candidate));
    time();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      results.rows[i].singles_us = 1e6 * quantile(candidates_[i].singles, 0.5);
      if (!candidates_[i].together.empty())
        results.rows[i].together_us = 1e6 * quantile(candidates_[i].together, 0.5);
    }
    return results;
  }

 private:
  MultiVector<const Value> x() const { return side_by_side(x_.data(), a_.cols, vectors_); }
  MultiVector<Value> y() { return side_by_side(y_.data(), a_.rows, vectors_); }

  // Judges each vector of one product.
  VectorsMeasurement check(VectorsCandidate<Value>& candidate) {
    std::fill(y_.begin(), y_.end(), poison<Value>());
    MultiProduct<Value>(*candidate.kernel, a_.rows, a_.cols).multiply(x(), y(), Accumulate::no);
    const std::int64_t stored = candidate.kernel->statistics().stored_bytes;
    VectorsMeasurement row{.kernel = std::string(candidate.entry->name),
                           .device = "cpu",
                           .precision = options_.precision,
                           .rows = a_.rows,
                           .cols = a_.cols,
                           .nnz = a_.nnz(),
                           .vectors = vectors_,
                           .build_ms = 1e3 * candidate.build_seconds,
                           .bytes = stored,
                           .moved_bytes = product_bytes(stored, a_.rows * vectors_,
                                                        a_.cols * vectors_, sizeof(Value))};
    Array<Value> one_x(a_.cols), one_y(a_.rows);
    for (std::int64_t j = 0; j < vectors_; ++j) {
      for (std::int64_t i = 0; i < a_.cols; ++i) one_x[i] = x()(i, j);
      for (std::int64_t i = 0; i < a_.rows; ++i) one_y[i] = y()(i, j);
      const ComparisonResult error = compare_product<Value>(a_, one_x, one_y);
      const double in_bounds = error.worst_ratio / kProductBoundFactor;
      if (in_bounds <= row.max_error) continue;
      row.max_error = in_bounds;
      row.worst_row = error.worst_row;
      row.worst_vector = j;
    }
    return row;
  }

  // For products of one vector the same memory holds the vectors one after the other.
  double singles(VectorsCandidate<Value>& candidate) {
    const std::span<const Value> x(x_);
    const std::span<Value> y(y_);
    return host_seconds(options_, [&] {
      for (std::int64_t j = 0; j < vectors_; ++j)
        candidate.kernel->multiply(x.subspan(j * a_.cols, a_.cols), y.subspan(j * a_.rows, a_.rows),
                                   Accumulate::no);
    });
  }

  double together(VectorsCandidate<Value>& candidate) {
    return host_seconds(options_,
                        [&] { candidate.kernel->multi_multiply(x(), y(), Accumulate::no); });
  }

  // Each of the two is run once without the clock and once with it per round.
  void time() {
    double spent = 0;  // sum over the rounds of the shortest measurement
    for (std::size_t round = 0; round < kMinRounds || spent < options_.seconds; ++round) {
      double shortest = 1e300;
      for (VectorsCandidate<Value>& candidate : candidates_) {
        singles(candidate);
        candidate.singles.push_back(singles(candidate));
        shortest = std::min(shortest, candidate.singles.back());
        if (!candidate.kernel->multiplies_vectors()) continue;
        together(candidate);
        candidate.together.push_back(together(candidate));
        shortest = std::min(shortest, candidate.together.back());
      }
      spent += shortest;
    }
  }

  const Options& options_;
  HostBuilderOf<Value> builder_;
  std::int64_t vectors_;
  Array<Value> values_;
  CsrView<Value> a_;
  Array<Value> x_, y_;
  std::vector<VectorsCandidate<Value>> candidates_;
};

}  // namespace

VectorsResults measure_vectors_host(const CsrMatrix<double>& matrix, const Options& options) {
  return in_host_precision(
      matrix, options, [&]<class Value>(Array<Value> values, HostBuilderOf<Value> builder) {
        return HostVectorsBench<Value>(matrix, std::move(values), options, builder).run();
      });
}

}  // namespace trireme::bench
