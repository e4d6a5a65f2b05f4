// SPDX-License-Identifier: BSD-3-Clause
// Runs the passes of both variants of CG, and sums over the processes, against the clock.
#include "solvers/variant_choice.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/array.hpp"
#include "solvers/executors/host_executor.hpp"

namespace trireme::solvers {
namespace {

// Rows without a matrix.
class BareRows : public HostSystem {
 public:
  explicit BareRows(std::int64_t rows) : rows_(rows) {}
  std::int64_t rows() const override { return rows_; }
  void multiply(std::span<const double>, std::span<double>) override {}

 private:
  std::int64_t rows_;
};

template <class Work>
double seconds_of(int times, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < times; ++k) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

constexpr int kSamples = 5;
using Samples = std::array<double, kSamples>;

double median(Samples samples) {
  std::ranges::nth_element(samples, samples.begin() + kSamples / 2);
  return samples[kSamples / 2];
}

}  // namespace

VariantTimes time_vector_work(std::int64_t rows, bool jacobi) {
  VariantTimes times;
  if (rows == 0) return times;
  const std::int64_t timed = std::min(rows, kTimedRows);
  const auto stride = static_cast<std::size_t>((timed + 7) / 8 * 8);
  Array<double> work(7 * stride, 1e-3);
  const auto vector = [&](int k) { return work.data() + k * stride; };
  double *const x = vector(0), *const r = vector(1), *const p = vector(2), *const q = vector(3),
                *const s = vector(4), *const u = vector(5);
  const Diagonal inverse = jacobi ? Diagonal{vector(6)} : Diagonal{};

  BareRows system(timed);
  State state;
  state.phase = Phase::iterating;
  state.alpha = state.beta = 1e-3;  // vectors stay away from 0 and from infinity
  const IterationObserver observer;
  HostExecutor e(system, state, observer, {}, false);
  const auto classic = [&] {
    e.pass(Dot{p, q});
    e.pass(CgResidual<false>{r, q, inverse, {}});
    e.pass(CgDirection<double>{x, p, r, inverse});
    e.forget_sums();
  };
  const auto single_reduction = [&] {
    e.pass(SingleReductionUpdate<false>{x, r, p, s, u, q, inverse, !jacobi, {}});
    e.pass(Dot{u, q});
    e.forget_sums();
  };
  classic();
  single_reduction();
  const int often = static_cast<int>(std::max<std::int64_t>(1, (std::int64_t{1} << 16) / timed));
  const double scale = static_cast<double>(rows) / static_cast<double>(timed);
  Samples of_classic{}, of_single{};
  for (int k = 0; k < kSamples; ++k) {
    of_classic[k] = scale * seconds_of(std::min(often, 64), classic);
    of_single[k] = scale * seconds_of(std::min(often, 64), single_reduction);
  }
  times.classic = median(of_classic);
  times.single_reduction = median(of_single);
  return times;
}

double time_of_sum(HostSystem& system) {
  const auto sum = [&] {
    std::array<double, 4> values{};
    system.sum(values);
  };
  seconds_of(4, sum);
  Samples samples{};
  for (double& sample : samples) sample = seconds_of(4, sum);
  return median(samples);
}

}  // namespace trireme::solvers
