// SPDX-License-Identifier: BSD-3-Clause
// The copy and triad of STREAM (McCalpin 1995), and a sum, over arrays that exceed every cache.
#include "planning/bandwidth.hpp"

#include <omp.h>

#include "base/array.hpp"
#include "base/stopwatch.hpp"

namespace trireme {
namespace {

double sum(const Array<double>& a) {
  const auto n = static_cast<std::int64_t>(a.size());
  double total = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : total)
  for (std::int64_t i = 0; i < n; ++i) total += a[i];
  return total;
}

// The best rate, in GB/s, of `repetitions` runs of `pass`, which moves `bytes` bytes.
template <class Pass>
double best_rate(int repetitions, double bytes, Pass&& pass) {
  double best = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const Stopwatch watch;
    pass();
    best = std::max(best, 1e-9 * bytes / watch.seconds());
  }
  return best;
}

}  // namespace

HostBandwidth measure_host_bandwidth(std::size_t bytes_per_array, int repetitions) {
  const auto n = static_cast<std::int64_t>(bytes_per_array / sizeof(double));
  Array<double> a(n), b(n), c(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
  }
  const double array_bytes = static_cast<double>(n) * sizeof(double);
  HostBandwidth result;
  result.threads = omp_get_max_threads();
  result.copy = best_rate(repetitions, 2 * array_bytes, [&] {
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < n; ++i) c[i] = b[i];
  });
  double scale = 0.5;
  result.triad = best_rate(repetitions, 3 * array_bytes, [&] {
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < n; ++i) a[i] = b[i] + scale * c[i];
  });
  result.read = best_rate(repetitions, array_bytes, [&] {
    // The next pass depends on this pass, so that the compiler cannot remove or move a pass.
    scale = 0.5 + 1e-300 * sum(a);
  });
  // Uses the result of the passes, so that the compiler cannot remove them.
  if (!(scale > 0)) result.read = 0;
  return result;
}

}  // namespace trireme
