// SPDX-License-Identifier: BSD-3-Clause
// A linear model of peaks.
#include "multigrid/cuda/device_forecast.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "device/device.hpp"
#include "distributed/device_blocks.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

// Bytes per row, per nonzero, and per row for each column beyond the first that P has for an
// aggregate. They are counted peaks of allocations for poisson, mesh, diffusion and elasticity
// matrices, with a margin for the scratch memory of sorts and scans.
struct DevicePeak {
  double row, entry, column;
};

constexpr DevicePeak kSetUp{370, 14, 330};
constexpr DevicePeak kMixedCycle{130, 8, 110}, kFullCycle{200, 13, 190};

double bytes_of(const DevicePeak& peak, double rows, double nnz, double columns) {
  return rows * (peak.row + peak.column * (columns - 1)) + peak.entry * nnz;
}

// Of the finest matrix, where it is not in GPU memory.
std::int64_t upload_bytes(const DistributedMatrix& matrix) {
  constexpr std::int64_t kEntry = sizeof(double) + sizeof(std::int32_t);
  if (const DeviceBlocks* blocks = DeviceBlocks::find(matrix); blocks && blocks->has_entries())
    return 0;
  return matrix.blocks.nnz() * kEntry + (matrix.local_rows() + 1) * std::int64_t{4};
}

}  // namespace

DeviceForecast forecast_on_device(const DistributedMatrix& matrix, std::int32_t width,
                                  const Options& options) {
  const auto rows = static_cast<double>(matrix.local_rows());
  const auto nnz = static_cast<double>(matrix.blocks.nnz());
  const double columns = width > 0 ? width : options.block_size;
  const bool mixed = options.precision == Precision::mixed;
  const double cycle = bytes_of(mixed ? kMixedCycle : kFullCycle, rows, nnz, columns);
  const double coarsest = std::min(static_cast<double>(options.coarsest_rows), rows);
  const double inverse = 16 * coarsest * coarsest;
  constexpr double kUploadedEntry =
      12;  // a level of the host lies in GPU memory while it is copied
  return {.built_there =
              static_cast<std::int64_t>(cycle + bytes_of(kSetUp, rows, nnz, columns) + inverse),
          .copied_there = static_cast<std::int64_t>(cycle + kUploadedEntry * nnz + inverse)};
}

namespace {

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

void require_free(std::int64_t bytes, std::int64_t free) {
  if (bytes > free)
    fail(ExitCode::resource,
         "multigrid may take {:.2f} GiB of GPU memory, {:.2f} GiB are free; use device: cpu, or "
         "preconditioner: jacobi, which needs 8 bytes per row",
         gib(bytes), gib(free));
}

// Of the levels that every rank has as a whole, beside those of the matrix.
std::int64_t whole_level_bytes(const DistributedMatrix& matrix, const Options& options) {
  constexpr std::int64_t kBytesPerRow = 1500;  // with 60 nonzeros, at the peak
  return kBytesPerRow * std::min(options.replicated_rows, matrix.global_rows());
}

}  // namespace

bool has_room_for_set_up(const DistributedMatrix& matrix, std::int32_t width,
                         const Options& options) {
  const DeviceForecast forecast = forecast_on_device(matrix, width, options);
  const auto free = static_cast<std::int64_t>(device_memory().free_bytes);
  if (forecast.built_there + upload_bytes(matrix) <= free) return true;
  require_free(forecast.copied_there, free);
  return false;
}

bool have_room_for_set_up(const DistributedMatrix& matrix, std::int32_t width,
                          const Options& options) {
  constexpr std::int64_t kJoinedEntry = 12;  // the rows with the columns of ghosts
  bool fits = false;
  collectively(matrix.comm, [&] {
    const DeviceForecast forecast = forecast_on_device(matrix, width, options);
    const std::int64_t whole = whole_level_bytes(matrix, options);
    const auto free = static_cast<std::int64_t>(device_memory().free_bytes);
    const std::int64_t joined = kJoinedEntry * matrix.blocks.nnz() + 4 * matrix.local_rows();
    fits = matrix.blocks.local.cuts.empty() &&
           forecast.built_there + joined + whole + upload_bytes(matrix) <= free;
    if (!fits) require_free(forecast.copied_there + whole, free);
  });
  return !any_rank(matrix.comm, !fits);
}

}  // namespace trireme::multigrid
