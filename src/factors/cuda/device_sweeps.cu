// SPDX-License-Identifier: BSD-3-Clause
#include "factors/cuda/device_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "device/check.hpp"
#include "device/device.hpp"
#include "factors/cuda/fill_kernels.cuh"
#include "factors/cuda/sweep_kernels.cuh"

namespace trireme::factors {
namespace {

using namespace sweep_kernels;

constexpr int kMostThreadsOfBlock = 1024;

unsigned blocks_of(std::int64_t threads, std::int64_t per_block) {
  constexpr std::int64_t kMostBlocks = 1 << 20;
  return static_cast<unsigned>(std::min((threads + per_block - 1) / per_block, kMostBlocks));
}

// Microseconds of both sweeps on an H200, most of them within 20 % of what was measured on systems
// of 4 to 3300 levels. A level costs what a number takes to those who wait for it: through shared
// memory, or through the cache of the GPU. Beside it, one block is bound by the slices that its
// multiprocessor works on, and the grid by bytes. A block is faster for less than about 16 slices
// per level.
struct Estimate {
  double fixed, per_level, per_slice, bytes_per_us;
  double operator()(double levels, double slices, double bytes) const {
    return fixed + per_level * levels + per_slice * slices + bytes / bytes_per_us;
  }
};
constexpr Estimate kBlockTakes{4, 0.25, 0.027, INFINITY}, kGridTakes{6, 0.7, 0, 4e6};

// So many levels are on their way that what they need beside each other's numbers is there. More of
// them disturb those that others wait for, in shared memory more than on the grid. A grid that
// fills the GPU is the most.
constexpr double kLevelsOfBlock = 4, kLevelsOfGrid = 8;
constexpr double kLeastWarpsOfBlock = 8, kMostWarpsOfBlock = 32;
constexpr double kLeastWarpsOfGrid = 256, kMostWarpsOfGrid = 4224;

int most_shared_bytes() {
  int device = 0, bytes = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes;
}

// Given, or so many levels of `per_level` slices.
int warps_for(int given, double per_level, double levels, double least, double most) {
  return given > 0 ? given
                   : static_cast<int>(std::clamp(std::ceil(levels * per_level), least, most));
}

SweepPlan plan_for(const SweepLayout& layout, const SweepOptions& options) {
  const auto levels = static_cast<double>(layout.levels);
  const auto slices = static_cast<double>(layout.slices.size());
  const double bytes =
      8.0 * static_cast<double>(layout.entries) + 32.0 * static_cast<double>(layout.count());
  const double per_level = slices / std::max(levels, 1.0);
  const int of_block = warps_for(std::min(options.threads, kMostThreadsOfBlock) / 32, per_level,
                                 kLevelsOfBlock, kLeastWarpsOfBlock, kMostWarpsOfBlock);
  const SweepPlan block{
      .kernel = SweepKernel::one_block,
      .threads = 32 * of_block,
      .shared_bytes = static_cast<std::size_t>(std::max(layout.lower_count, layout.upper_count())) *
                      sizeof(double)};
  const bool block_fits = block.shared_bytes <= static_cast<std::size_t>(most_shared_bytes());
  const bool block_is_faster =
      kBlockTakes(levels, slices, bytes) < kGridTakes(levels, slices, bytes);
  if (block_fits && (options.kernel == SweepKernel::one_block ||
                     (options.kernel == SweepKernel::chosen && block_is_faster)))
    return block;
  const int of_grid =
      warps_for(options.warps, per_level, kLevelsOfGrid, kLeastWarpsOfGrid, kMostWarpsOfGrid);
  return {.kernel = SweepKernel::grid,
          .threads = 32 * kWarpsOfGridBlock,
          .blocks = (of_grid + kWarpsOfGridBlock - 1) / kWarpsOfGridBlock};
}

template <class Triangles>
auto& values_of(Triangles& triangles, float) {
  return triangles.in_fp32;
}
template <class Triangles>
auto& values_of(Triangles& triangles, double) {
  return triangles.in_fp64;
}

fill_kernels::Layout layout_of(const DeviceTriangles& t) {
  return {t.slices.data(),
          t.rows_at.data(),
          t.firsts.data(),
          t.lengths.data(),
          static_cast<std::int32_t>(t.slices.size()),
          static_cast<std::int32_t>(t.rows),
          static_cast<std::int32_t>(t.lower_count),
          static_cast<std::int32_t>(t.count)};
}

constexpr int kThreadsOfFill = 128;
unsigned blocks_of_fill(const DeviceTriangles& triangles) {
  return blocks_of(static_cast<std::int64_t>(triangles.slices.size()) * 32, kThreadsOfFill);
}
constexpr int kThreadsOfPositions = 256;
unsigned blocks_of_positions(std::int64_t positions) {
  return static_cast<unsigned>((positions + kThreadsOfPositions - 1) / kThreadsOfPositions);
}

DeviceTriangles upload(const FactorPattern& pattern, const SweepLayout& layout,
                       const DevicePattern& on_device, StreamRef stream) {
  const auto numbers = [&](const Array<std::int32_t>& array) {
    return trireme::to_device(std::span<const std::int32_t>(array), stream);
  };
  DeviceTriangles made;
  made.rows = pattern.rows;
  made.count = layout.count();
  made.lower_count = layout.lower_count;
  made.lower_slices = layout.lower_slices;
  made.entries = layout.entries;
  made.slices = trireme::to_device(std::span<const Slice>(layout.slices), stream);
  made.rows_at = numbers(layout.rows);
  made.firsts = numbers(layout.firsts);
  made.lengths = numbers(layout.lengths);
  made.sources = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(made.count), stream);
  made.targets = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(made.upper_count()), stream);
  made.inverses = DeviceBuffer<double>(static_cast<std::size_t>(made.upper_count()), stream);
  made.columns = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(made.entries), stream);

  const ScratchBuffer<std::int32_t> positions(2 * static_cast<std::size_t>(made.rows), stream);
  const DeviceBuffer<std::int32_t> order = numbers(pattern.order);
  const fill_kernels::Layout l = layout_of(made);
  const unsigned blocks = blocks_of_positions(made.count);
  fill_kernels::invert_rows<<<blocks, kThreadsOfPositions, 0, stream>>>(l, positions.data());
  check_launch();
  fill_kernels::make_ends<<<blocks, kThreadsOfPositions, 0, stream>>>(
      l, positions.data(), order.data(), made.sources.data(), made.targets.data());
  check_launch();
  fill_kernels::fill_columns<<<blocks_of_fill(made), kThreadsOfFill, 0, stream>>>(
      l, positions.data(), on_device.col_idx.data(), made.columns.data());
  check_launch();
  return made;
}

// The settings serve all objects, so that they are the most that there is.
template <class Value>
void let_block_use_shared_memory() {
  cuda_check(cudaFuncSetAttribute(
      sweep_in_block<Value>, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared_bytes()));
}

}  // namespace

DeviceSweeps::DeviceSweeps(const FactorPattern& pattern, const DevicePattern& on_device,
                           const SweepOptions& options, StreamRef stream) {
  if (pattern.rows == 0) return;
  const SweepLayout layout = lay_out(pattern);
  plan_ = plan_for(layout, options);
  triangles_ = upload(pattern, layout, on_device, stream);
  numbers_ = DeviceBuffer<double>(
      static_cast<std::size_t>(triangles_.count + kWarpsOfGridBlock * kCounterDistance), stream);
  if (plan_.kernel == SweepKernel::one_block) {
    let_block_use_shared_memory<float>();
    let_block_use_shared_memory<double>();
  }
  synchronize(stream);
}

template <class Value>
bool DeviceSweeps::take_as(const DevicePattern& pattern, const DeviceNumbers& numbers,
                           StreamRef stream) {
  const bool moves = !has_values_ || in_fp32_ != std::is_same_v<Value, float>;
  auto& values = values_of(triangles_, Value());
  if (moves) {
    DeviceBuffer<Value> made(static_cast<std::size_t>(triangles_.entries), stream);
    triangles_.in_fp32 = {};
    triangles_.in_fp64 = {};
    values = std::move(made);
  }
  const fill_kernels::Layout l = layout_of(triangles_);
  fill_kernels::fill_values<<<blocks_of_fill(triangles_), kThreadsOfFill, 0, stream>>>(
      l, numbers.values.data(), values.data());
  check_launch();
  fill_kernels::gather_inverses<<<blocks_of_positions(triangles_.upper_count()),
                                  kThreadsOfPositions, 0, stream>>>(
      l, pattern.diagonal.data(), numbers.values.data(), triangles_.inverses.data());
  check_launch();
  return moves;
}

bool DeviceSweeps::take(const DevicePattern& pattern, const DeviceNumbers& numbers,
                        StreamRef stream) {
  if (pattern.rows == 0) return false;
  const bool moved = numbers.in_fp32 ? take_as<float>(pattern, numbers, stream)
                                     : take_as<double>(pattern, numbers, stream);
  in_fp32_ = numbers.in_fp32;
  has_values_ = true;
  return moved;
}

template <class Value>
void DeviceSweeps::enqueue_as(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) {
  const DeviceTriangles& t = triangles_;
  const Sweeps<Value> sweeps{t.slices.data(),
                             static_cast<std::int32_t>(t.slices.size()),
                             static_cast<std::int32_t>(t.lower_slices),
                             static_cast<std::int32_t>(t.count),
                             static_cast<std::int32_t>(t.lower_count),
                             t.columns.data(),
                             values_of(t, Value()).data(),
                             t.sources.data(),
                             t.targets.data(),
                             t.inverses.data(),
                             r.data(),
                             numbers_.data(),
                             z.data()};
  if (plan_.kernel == SweepKernel::one_block) {
    sweep_in_block<Value><<<1, plan_.threads, plan_.shared_bytes, stream>>>(sweeps);
  } else {
    fill_nan(numbers_.span(), stream);
    sweep_on_grid<Value><<<plan_.blocks, plan_.threads, 0, stream>>>(sweeps);
  }
  check_launch();
}

void DeviceSweeps::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) {
  if (triangles_.count == 0) return;
  if (in_fp32_)
    enqueue_as<float>(r, z, stream);
  else
    enqueue_as<double>(r, z, stream);
}

}  // namespace trireme::factors
