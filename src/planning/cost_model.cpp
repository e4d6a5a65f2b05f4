// SPDX-License-Identifier: BSD-3-Clause
// Constants per kernel, fitted to kernel_bench on one H200 and on two cores of an EPYC.
#include "planning/cost_model.hpp"

#include <algorithm>
#include <array>

namespace trireme {
namespace {

struct Figures {
  std::string_view kernel;
  double value_bytes, column_bytes;  // per nonzero
  double row_bytes;                  // per row, without x and y
  double of_bandwidth;               // the part that it reaches where it streams
  double start_us;                   // launches, and the tail of the last blocks
  double per_long_row_us;            // per nonzero of the longest row, which a group reads alone
  double per_mean_row_us;            // per nonzero of a mean row, which a thread reads alone
  double build_bytes;                // read and written by the build, per byte of the layout
  double build_us;                   // constant part of the build
};

// sell stores FP32 values where they are exact, and pads. Its bytes here are those of 16-bit columns.
constexpr std::array kOnGpu = {
    Figures{"csr-scalar", 8, 4, 4, 0.60, 3, 0.1, 0, 0, 10},
    Figures{"csr-vector", 8, 4, 4, 0.68, 3, 0.035, 0, 0, 10},
    Figures{"albus", 8, 4, 4, 0.66, 7, 0, 0, 0, 30},
    Figures{"sell", 8, 2.2, 4, 0.83, 5, 0, 0.17, 8, 200},
    Figures{"dasp", 8, 2.2, 2, 0.87, 4.5, 0, 0, 8, 250},
    Figures{"teb", 8, 4, 4, 0.68, 5, 0, 0, 8, 300},
    Figures{"cusparse-csr", 8, 4, 4, 0.62, 8, 0, 0, 1, 7000},
    Figures{"cusparse-csr-alg2", 8, 4, 4, 0.50, 15, 0, 0, 1, 7000},
    Figures{"cusparse-coo", 8, 8, 0, 0.72, 8, 0, 0, 1, 7000},
    Figures{"cusparse-sell", 8, 4, 2, 0.85, 5, 0.1, 0, 8, 7500},
    Figures{"cusparse-bsr", 12, 1, 0, 0.40, 8, 0, 0, 30, 8000},
};
constexpr std::array kOnCpu = {
    Figures{"csr", 8, 4, 4, 0.80, 1, 0.001, 0, 0, 1},
    Figures{"albus", 8, 3.6, 4, 0.90, 2, 0, 0, 2, 20},
    Figures{"sell", 8, 4, 4, 0.60, 2, 0, 0, 12, 50},
    Figures{"dasp", 8, 4, 4, 0.55, 2, 0, 0, 12, 50},
    Figures{"teb", 8, 4, 4, 0.55, 2, 0, 0, 12, 50},
    Figures{"petsc-aij", 8, 4, 4, 0.72, 1, 0, 0, 2, 20},
};

Figures figures_of(std::string_view kernel, Device device) {
  const auto find = [&](const auto& list) {
    const auto found = std::ranges::find(list, kernel, &Figures::kernel);
    return found == list.end() ? list.front() : *found;
  };
  return device == Device::cuda ? find(kOnGpu) : find(kOnCpu);
}

// sell numbers the patterns of the rows where they are few, which they are in the order given only.
bool reads_no_columns(const Figures& f, Ordering ordering, Device device,
                      const MatrixTraits& traits) {
  return f.kernel == "sell" && device == Device::cuda && ordering == Ordering::given &&
         traits.few_patterns;
}

// The kernel as it runs on this matrix.
Figures figures_of(std::string_view kernel, Ordering ordering, Device device,
                   const MatrixTraits& traits) {
  Figures f = figures_of(kernel, device);
  if (!reads_no_columns(f, ordering, device, traits)) return f;
  constexpr std::int64_t kManyPerRow = 16;
  constexpr double kPatternNumber = 2, kOfBandwidthWithManyPerRow = 0.92;
  f.column_bytes = 0;
  f.row_bytes = kPatternNumber;
  if (traits.nnz >= kManyPerRow * traits.rows) f.of_bandwidth = kOfBandwidthWithManyPerRow;
  return f;
}

// Long rows let a warp of csr-vector read whole lines, and leave the tensor cores of dasp waiting.
double part_of_bandwidth(const Figures& f, Device device, double mean_row) {
  constexpr double kLongRow = 256;
  if (device == Device::cpu) return f.of_bandwidth;
  if (f.kernel == "csr-vector") return f.of_bandwidth + 0.14 * std::min(1.0, mean_row / kLongRow);
  if (f.kernel == "dasp" && mean_row > kLongRow) return 0.55;
  return f.of_bandwidth;
}

bool stores_float(std::string_view kernel, Device device, Precision precision,
                  const MatrixTraits& traits) {
  if (precision == Precision::mixed) return true;
  return kernel == "sell" && device == Device::cuda && traits.exact_in_float;
}

}  // namespace

MachineRates default_rates(Device device) {
  if (device == Device::cuda) return {.memory = 4200, .cache = 5400};
  return {.memory = 33, .cache = 60};
}

double predicted_product_us(std::string_view kernel, Ordering ordering, Device device,
                            Precision precision, const MatrixTraits& traits,
                            const MachineRates& rates) {
  const Figures f = figures_of(kernel, ordering, device, traits);
  const double value = stores_float(kernel, device, precision, traits) ? 4 : f.value_bytes;
  const auto rows = static_cast<double>(traits.rows), nnz = static_cast<double>(traits.nnz);
  constexpr double kVectors = 16;  // x and y, once each
  const double streamed = nnz * (value + f.column_bytes) + rows * (f.row_bytes + kVectors);
  const double sectors = ordering == Ordering::given
                             ? traits.sectors_per_nonzero
                             : std::min(traits.sectors_per_nonzero, traits.clustered_sectors);
  constexpr double kSector = 32;
  const double gathered = streamed + kSector * sectors * nnz;
  const double mean = traits.rows > 0 ? nnz / rows : 0;
  const double longest = static_cast<double>(traits.longest) * f.per_long_row_us;
  constexpr double kLongestOfOneLane = 128;  // several lanes of sell share a longer row
  const double of_one_thread = std::min(mean, kLongestOfOneLane) * f.per_mean_row_us;
  const double memory_us = 1e-3 * streamed / (part_of_bandwidth(f, device, mean) * rates.memory);
  const double cache_us = 1e-3 * gathered / rates.cache;
  return f.start_us + std::max({memory_us, cache_us, longest, of_one_thread});
}

double prediction_uncertainty(std::string_view kernel, Device device) {
  constexpr double kLayout = 0.2, kPlain = 0.25, kLayoutOnCpu = 0.4;
  if (kernel == "csr" || kernel == "csr-vector" || kernel == "albus") return kPlain;
  return device == Device::cpu && kernel != "petsc-aij" ? kLayoutOnCpu : kLayout;
}

double predicted_pause_seconds(Device device, const MatrixTraits& traits, double product_us) {
  constexpr double kProducts = 4, kGraphSeconds = 1e-3, kBytesPerSecond = 10e9;
  const double products = 1e-6 * kProducts * product_us;
  if (device == Device::cpu) return products;
  return products + kGraphSeconds + 24 * static_cast<double>(traits.rows) / kBytesPerSecond;
}

double predicted_build_seconds(std::string_view kernel, Device device, const MatrixTraits& traits,
                               const MachineRates& rates) {
  const Figures f = figures_of(kernel, device);
  const double layout = 12.0 * static_cast<double>(traits.nnz + traits.rows);
  return 1e-6 * f.build_us + 1e-9 * f.build_bytes * layout / rates.memory;
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
