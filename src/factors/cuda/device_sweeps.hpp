// SPDX-License-Identifier: BSD-3-Clause
// The sweeps of incomplete factors on one GPU, in the layout of sweep_layout.hpp. This header
// compiles without CUDA.
//
// Rows wait for single numbers instead of whole levels (Liu, Li, Hogg, Duff, Vinter, "A
// synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016). Warps take
// their rows by tickets, so that a warp waits only for warps that run: no number of blocks, and no
// other work on the GPU, can make it wait for ever.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "factors/cuda/device_factors.hpp"
#include "factors/cuda/device_numbers.hpp"
#include "factors/cuda/sweep_layout.hpp"

namespace trireme::factors {

// Both factors in GPU memory. Their values are in FP32 or in FP64; the other array is empty.
struct DeviceTriangles {
  std::int64_t rows = 0;
  std::int64_t count = 0, lower_count = 0;  // positions
  std::int64_t lower_slices = 0;
  std::int64_t entries = 0;  // with padding
  DeviceBuffer<Slice> slices;
  DeviceBuffer<std::int32_t> rows_at, firsts, lengths;  // of each position, as SweepLayout has them
  // Of each position: where its right-hand side is, or kPart; for U, where its number goes to.
  DeviceBuffer<std::int32_t> sources, targets;
  DeviceBuffer<double> inverses;       // D^-1 of each position of U
  DeviceBuffer<std::int32_t> columns;  // positions; -1: padding
  DeviceBuffer<float> in_fp32;
  DeviceBuffer<double> in_fp64;

  std::int64_t upper_count() const { return count - lower_count; }
};

// How the sweeps run.
struct SweepPlan {
  SweepKernel kernel = SweepKernel::grid;
  int threads = 0;  // per block
  int blocks = 1;
  std::size_t shared_bytes = 0;
};

class DeviceSweeps {
 public:
  // `on_device` is the same pattern. Waits for `stream`. Throws Error{resource} where the memory
  // does not suffice.
  DeviceSweeps(const FactorPattern& pattern, const DevicePattern& on_device,
               const SweepOptions& options, StreamRef stream);

  // Takes numbers, in FP32 if they are in_fp32. Returns true where arrays have moved. Queues its
  // work in `stream`. Where it throws Error{resource}, the former numbers stay.
  bool take(const DevicePattern& pattern, const DeviceNumbers& numbers, StreamRef stream);
  // As DeviceFactors::enqueue().
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream);
  SweepKernel kernel() const { return plan_.kernel; }

 private:
  template <class Value>
  bool take_as(const DevicePattern& pattern, const DeviceNumbers& numbers, StreamRef stream);
  template <class Value>
  void enqueue_as(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream);

  DeviceTriangles triangles_;
  DeviceBuffer<double> numbers_;  // of all positions, which rows wait for, and counters of tickets
  SweepPlan plan_;
  bool has_values_ = false, in_fp32_ = false;
};

}  // namespace trireme::factors
