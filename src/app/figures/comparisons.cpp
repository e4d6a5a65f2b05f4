// SPDX-License-Identifier: BSD-3-Clause
// Measurements of the yardsticks, and the ratios.
#include "app/figures/comparisons.hpp"

#include <algorithm>
#include <optional>

#include "device/cache_bandwidth.hpp"
#include "distributed/device_blocks.hpp"
#include "parallel/collective.hpp"
#include "petsc/mat/amat.hpp"
#include "planning/bandwidth.hpp"
#include "planning/break_even.hpp"

namespace trireme {
namespace {

// The kernel whose preprocessing costs nothing beyond reading the matrix.
std::string baseline_kernel(Device device) { return std::string(plain_kernel(device).name); }

KernelCost cost_of(const RunOutcome& run) {
  return {run.seconds.order + run.seconds.build + run.seconds.upload, run.kernel_us.median};
}

// Collective.
KernelCost measure_baseline(const std::shared_ptr<DistributedMatrix>& matrix, Device device) {
  constexpr int kProducts = 10;
  const auto op = make_operator(
      matrix, {.name = baseline_kernel(device), .device = device, .precision = Precision::full});
  return {max_over_ranks(matrix->comm, op->build_seconds() + op->upload_seconds()),
          max_over_ranks(matrix->comm, op->measure_product_us(kProducts))};
}

bool any_run_on(Device device, const CaseOutcome& outcome) {
  return std::ranges::any_of(outcome.runs,
                             [&](const RunOutcome& run) { return run.device == device; });
}

}  // namespace

bool bandwidth_matters(const ProblemDescription& problem) {
  constexpr std::int64_t kMinBytes = std::int64_t{64} << 20;
  return 12 * problem.nnz >= kMinBytes;
}

void compare_with_bandwidth(MPI_Comm comm, CaseOutcome& outcome) {
  HostBandwidth mine;
  if (any_run_on(Device::cpu, outcome)) mine = measure_host_bandwidth();
  double rates[] = {mine.triad, mine.best(), 0};  // GB/s; the last is the GPU's
  if (!outcome.machine.gpu.empty())
    collectively(comm, [&] { rates[2] = measure_device_bandwidth(); });
  MPI_Allreduce(MPI_IN_PLACE, rates, 3, MPI_DOUBLE, MPI_SUM, comm);
  outcome.machine.triad_gbytes_per_s = rates[0];
  outcome.machine.best_gbytes_per_s = rates[1];
  outcome.machine.gpu_gbytes_per_s = rates[2];
  for (RunOutcome& run : outcome.runs) {
    const double rate = run.device == Device::cpu ? rates[1] : rates[2];
    if (rate > 0) run.bandwidth_fraction = run.gbytes_per_s / rate;
  }
}

void measure_in_cache(MPI_Comm comm, CaseOutcome& outcome) {
  constexpr std::int64_t kLeastBytes = 12288, kBytesOfPasses = std::int64_t{192} << 20;
  const std::int64_t bytes = std::max(kLeastBytes, 12 * outcome.problem.nnz / size_of(comm));
  double rates[] = {0, 0};  // GB/s; the last is the GPU's
  if (any_run_on(Device::cpu, outcome)) {
    // The best of many passes over small arrays, whose times are short and uneven.
    const auto repetitions = std::clamp<std::int64_t>(kBytesOfPasses / bytes, 10, 1000);
    rates[0] =
        measure_host_bandwidth(static_cast<std::size_t>(bytes / 3), static_cast<int>(repetitions))
            .best();
  }
  if (any_run_on(Device::cuda, outcome))
    collectively(comm, [&] { rates[1] = measure_device_cache(static_cast<std::size_t>(bytes)); });
  MPI_Allreduce(MPI_IN_PLACE, rates, 2, MPI_DOUBLE, MPI_SUM, comm);
  outcome.machine.in_cache_gbytes_per_s = rates[0];
  outcome.machine.gpu_in_cache_gbytes_per_s = rates[1];
}

void compare_with_baseline(std::vector<RunOutcome>& runs,
                           const std::shared_ptr<DistributedMatrix>& matrix) {
  for (const Device device : {Device::cpu, Device::cuda}) {
    std::optional<KernelCost> baseline;
    for (const RunOutcome& run : runs)
      if (run.device == device && run.kernel == baseline_kernel(device) &&
          run.ordering == to_string(Ordering::given) && run.precision == Precision::full &&
          run.kernel_us.count > 0)
        baseline = cost_of(run);
    for (RunOutcome& run : runs) {
      if (run.device != device || run.kernel_us.count == 0) continue;
      if (!baseline && device == Device::cuda &&
          any_rank(matrix->comm, DeviceBlocks::left_entries_out(*matrix)))
        continue;
      if (!baseline) baseline = measure_baseline(matrix, device);
      run.baseline = baseline_kernel(device);
      run.break_even_products = break_even_products(cost_of(run), *baseline);
    }
  }
}

void compare_precisions(std::vector<RunOutcome>& runs) {
  for (RunOutcome& mixed : runs) {
    if (mixed.precision != Precision::mixed) continue;
    const auto full = std::ranges::find_if(runs, [&](const RunOutcome& run) {
      return run.precision == Precision::full && run.kernel == mixed.kernel &&
             run.device == mixed.device;
    });
    if (full == runs.end())
      mixed.notes.emplace_back("precision: [double, mixed] compares the two");
    else if (full->converged && mixed.converged && mixed.seconds.solve > 0)
      mixed.notes.push_back(fmt::format(
          "{:.2f} times as fast as double: {:.3g} s and {} iterations against {:.3g} s and {}",
          full->seconds.solve / mixed.seconds.solve, mixed.seconds.solve, mixed.iterations,
          full->seconds.solve, full->iterations));
  }
}

}  // namespace trireme
