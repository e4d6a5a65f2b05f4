// SPDX-License-Identifier: BSD-3-Clause
// The forecast of a hierarchy's memory against the peak of its set-up, which is counted by this
// program's own operator new.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "multigrid/forecast.hpp"
#include "multigrid/on_ranks.hpp"

namespace {

std::atomic<std::int64_t> live{0}, peak{0};

void* counted(void* data) {
  if (!data) throw std::bad_alloc();
  const std::int64_t now = live += static_cast<std::int64_t>(malloc_usable_size(data));
  std::int64_t before = peak.load();
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return data;
}

void release(void* data) {
  if (!data) return;
  live -= static_cast<std::int64_t>(malloc_usable_size(data));
  std::free(data);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(std::malloc(bytes > 0 ? bytes : 1)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
}
void operator delete(void* data) noexcept { release(data); }
void operator delete(void* data, std::size_t) noexcept { release(data); }
void operator delete(void* data, std::align_val_t) noexcept { release(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { release(data); }

namespace trireme::multigrid {
namespace {

struct System {
  const char* kind;
  std::int64_t n;
  std::int32_t block = 1, width = 0;
};

// Vectors that differ on each aggregate.
NearNullspace modes_of(const DistributedMatrix& a, std::int32_t width) {
  NearNullspace modes;
  modes.width = width;
  for (std::int64_t row = 0; row < a.local_rows(); ++row)
    for (std::int32_t k = 0; k < width; ++k)
      modes.values.push_back(std::cos(0.37 * static_cast<double>((k + 1) * (a.first_row() + row))) +
                             (k == 0 ? 2 : 0));
  return modes;
}

TEST(Forecast, IsAnUpperBoundOfThePeakWithinAFactorOfTwo) {
  for (const System& system : std::initializer_list<System>{{"poisson2d", 120},
                                                            {"poisson3d", 24},
                                                            {"poisson3d", 24, 1, 1},
                                                            {"poisson27", 24},
                                                            {"mesh2d", 120},
                                                            {"diffusion3d", 24},
                                                            {"highorder", 60},
                                                            {"bands", 15000},
                                                            {"convection3d", 24},
                                                            {"elasticity3d", 14, 3},
                                                            {"elasticity3d", 14, 3, 6}}) {
    const auto a = test::generated(MPI_COMM_WORLD, system.kind, system.n, system.block);
    const NearNullspace modes = modes_of(*a, system.width);
    for (const Precision precision : {Precision::mixed, Precision::full}) {
      Options options;
      options.precision = precision;
      options.block_size = system.block;
      const std::int64_t before = live;
      peak = before;
      const Hierarchy hierarchy(a, modes, options);
      const auto taken = static_cast<double>(peak - before);
      const auto forecast = static_cast<double>(forecast_bytes(*a, system.width, options));
      const auto rows = static_cast<double>(a->local_rows());
      EXPECT_GE(forecast, taken) << system.kind << ", bytes per row: " << taken / rows;
      EXPECT_LE(forecast, 2 * taken) << system.kind << ", bytes per row: " << taken / rows;
    }
  }
}

}  // namespace
}  // namespace trireme::multigrid
