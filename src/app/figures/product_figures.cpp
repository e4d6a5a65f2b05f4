// SPDX-License-Identifier: BSD-3-Clause
// Sums and maxima over ranks.
#include "app/figures/product_figures.hpp"

#include <algorithm>
#include <memory>

#include "app/figures/memory.hpp"
#include "distributed/host_operator.hpp"
#include "parallel/collective.hpp"
#include "planning/bandwidth.hpp"
#include "planning/rank_advice.hpp"

namespace trireme {
namespace {

// Every product at the same distance, so that the distribution stays what it is.
void keep_some(const std::vector<float>& times, RunOutcome& o) {
  constexpr std::size_t kMax = 2000;
  const std::size_t stride = times.empty() ? 1 : (times.size() - 1) / kMax + 1;
  o.product_us.clear();
  for (std::size_t i = 0; i < times.size(); i += stride) o.product_us.push_back(times[i]);
  o.product_us_stride = static_cast<std::int64_t>(stride);
}

}  // namespace

std::vector<double> add_product_figures(RunOutcome& o, const DistributedMatrix& matrix,
                                        Amat& amat) {
  const std::vector<float> times = amat.times().slowest(matrix.comm);
  const ProductTiming timing = summarise(times, amat.times().count());
  o.kernel_us = {.count = timing.count,
                 .mean = timing.mean,
                 .median = timing.median,
                 .p95 = timing.p95,
                 .min = timing.min,
                 .max = timing.max};
  keep_some(times, o);
  const KernelStatistics statistics = amat.statistics();
  o.bytes = sum_over_ranks(matrix.comm, statistics.stored_bytes);
  double padded = statistics.padding_ratio * static_cast<double>(matrix.blocks.nnz());
  MPI_Allreduce(MPI_IN_PLACE, &padded, 1, MPI_DOUBLE, MPI_SUM, matrix.comm);
  const auto nnz = static_cast<double>(matrix.global_nnz);
  o.padding = nnz > 0 ? padded / nnz : 0;
  if (timing.median > 0) {
    const double bytes = static_cast<double>(
        product_bytes(o.bytes, matrix.global_rows(), matrix.global_rows(), sizeof(double)));
    o.gflops = 2e-3 * nnz / timing.median;
    o.gbytes_per_s = 1e-3 * bytes / timing.median;
  }
  return {times.begin(), times.end()};
}

std::string advice_on_ranks(const RunOutcome& o, const DistributedMatrix& matrix, Amat& amat,
                            const AnyPreconditioner& preconditioner) {
  constexpr int kProducts = 9;
  constexpr double kLeastIterations = 20;
  const auto op = std::dynamic_pointer_cast<HostOperator>(amat.shared_operator());
  const bool local = preconditioner.own() && !preconditioner.own()->info.exchanges;
  if (!op || o.engine != Engine::resident || !local || o.block > 1 || o.ranks < 2) return {};
  const double iterations = o.iteration_us > 0 ? 1e6 * o.seconds.solve / o.iteration_us : 0;
  if (iterations < kLeastIterations) return {};
  const double products = static_cast<double>(o.kernel_us.count) / iterations;
  double sum = compute_us(products, op->measure_local_us(kProducts),
                          static_cast<double>(matrix.local_rows()),
                          static_cast<double>(matrix.blocks.nnz()));
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, matrix.comm);
  return trireme::advice_on_ranks(
      IterationCost{.ranks = o.ranks, .iteration_us = o.iteration_us, .compute_us = sum / o.ranks});
}

PeakMemory peak_memory(const SolveContext& context) {
  const MPI_Comm comm = context.matrix->comm;
  const std::int64_t peak = std::max(context.load_peak_bytes, peak_resident_bytes());
  struct {
    double bytes;
    int rank;
  } here{static_cast<double>(peak), rank_of(comm)}, largest{};
  MPI_Allreduce(&here, &largest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  const auto csr = static_cast<double>(std::max<std::int64_t>(context.matrix->csr_bytes(), 1));
  double ratio = static_cast<double>(peak - context.resident_before) / csr;
  MPI_Bcast(&ratio, 1, MPI_DOUBLE, largest.rank, comm);
  return {.bytes = static_cast<std::int64_t>(largest.bytes), .over_csr = ratio};
}

}  // namespace trireme
