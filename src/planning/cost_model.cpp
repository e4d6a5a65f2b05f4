// SPDX-License-Identifier: BSD-3-Clause
// Fitted, as the models of the kernels, to kernel_bench on one H200 and on two cores of an EPYC.
#include "planning/cost_model.hpp"

#include <algorithm>
#include <cstdint>

namespace trireme {
namespace {

// Where rows have few patterns, which they have in the order given only.
bool reads_no_columns(const KernelModel& kernel, Ordering ordering, const MatrixTraits& traits) {
  return kernel.numbers_patterns && ordering == Ordering::given && traits.few_patterns;
}

// The kernel as it runs on this matrix.
KernelModel suited_to(KernelModel kernel, Ordering ordering, const MatrixTraits& traits) {
  if (!reads_no_columns(kernel, ordering, traits)) return kernel;
  constexpr std::int64_t kManyPerRow = 16;
  constexpr double kPatternNumber = 2, kOfBandwidthWithManyPerRow = 0.92;
  kernel.column_bytes = 0;
  kernel.row_bytes = kPatternNumber;
  if (traits.nnz >= kManyPerRow * traits.rows) kernel.of_bandwidth = kOfBandwidthWithManyPerRow;
  return kernel;
}

// Long rows let a warp of csr-vector read whole lines, and leave the tensor cores of dasp waiting.
double part_of_bandwidth(const KernelModel& kernel, double mean_row) {
  constexpr double kLongRow = 256;
  if (kernel.of_bandwidth_beyond > 0 && mean_row > kLongRow) return kernel.of_bandwidth_beyond;
  return kernel.of_bandwidth + kernel.gain_of_long_rows * std::min(1.0, mean_row / kLongRow);
}

}  // namespace

MachineRates default_rates(Device device) {
  if (device == Device::cuda) return {.memory = 4200, .cache = 5400};
  return {.memory = 33, .cache = 60};
}

double predicted_product_us(const KernelModel& model, Ordering ordering, Precision precision,
                            const MatrixTraits& traits, const MachineRates& rates) {
  const KernelModel kernel = suited_to(model, ordering, traits);
  const bool in_float =
      precision == Precision::mixed || (kernel.stores_exact_floats && traits.exact_in_float);
  const double value = in_float ? sizeof(float) : kernel.value_bytes;
  const auto rows = static_cast<double>(traits.rows), nnz = static_cast<double>(traits.nnz);
  constexpr double kVectors = 16;  // x and y, once each
  const double streamed =
      nnz * (value + kernel.column_bytes) + rows * (kernel.row_bytes + kVectors);
  const double sectors = ordering == Ordering::given
                             ? traits.sectors_per_nonzero
                             : std::min(traits.sectors_per_nonzero, traits.clustered_sectors);
  constexpr double kSector = 32;
  const double gathered = streamed + kSector * sectors * nnz;
  const double mean = traits.rows > 0 ? nnz / rows : 0;
  const double longest = static_cast<double>(traits.longest) * kernel.per_long_row_us;
  constexpr double kLongestOfOneLane = 128;  // several lanes of sell share a longer row
  const double of_one_thread = std::min(mean, kLongestOfOneLane) * kernel.per_mean_row_us;
  const double memory_us = 1e-3 * streamed / (part_of_bandwidth(kernel, mean) * rates.memory);
  const double cache_us = 1e-3 * gathered / rates.cache;
  return kernel.start_us + std::max({memory_us, cache_us, longest, of_one_thread});
}

double predicted_pause_seconds(Device device, const MatrixTraits& traits, double product_us) {
  constexpr double kProducts = 4, kGraphSeconds = 1e-3, kBytesPerSecond = 10e9;
  const double products = 1e-6 * kProducts * product_us;
  if (device == Device::cpu) return products;
  return products + kGraphSeconds + 24 * static_cast<double>(traits.rows) / kBytesPerSecond;
}

double predicted_build_seconds(const KernelModel& kernel, const MatrixTraits& traits,
                               const MachineRates& rates) {
  const double layout = 12.0 * static_cast<double>(traits.nnz + traits.rows);
  return 1e-6 * kernel.build_us + 1e-9 * kernel.build_bytes * layout / rates.memory;
}

double predicted_order_seconds(Ordering ordering, Device device, const MatrixTraits& traits) {
  const auto nnz = static_cast<double>(traits.nnz), rows = static_cast<double>(traits.rows);
  switch (ordering) {
    case Ordering::rcm:
      return 20e-9 * nnz + 50e-9 * rows;
    case Ordering::cluster:
      return device == Device::cuda ? 4e-3 + 1.2e-9 * nnz : 20e-9 * nnz + 50e-9 * rows;
    case Ordering::given:
      break;
  }
  return 0;
}

}  // namespace trireme
