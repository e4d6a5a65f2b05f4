// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor of groups of repeated rows, and their search. A group of four rows is known by
// the patterns of its rows. All groups enter these into a table in parallel, the host sorts what
// the table has and writes the pattern of each group: the differences of its rows, in ascending
// order, with four values each, of which some are 0. A lane that has a group adds up its rows in
// this order, so that a row's sum has the bits that it has alone.
#include "kernels/sell/repeated_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/device.hpp"
#include "kernels/numeric.cuh"
#include "kernels/sell/slices.cuh"

namespace trireme::sell {
namespace {

constexpr int kGroupRows = 4;
constexpr int kThreads = tuning::kGroupThreads;
constexpr int kPlaces = 4 * tuning::kMaxGroupPatterns;  // of the table
constexpr std::size_t kBytesPerEntry = sizeof(std::int32_t) + kGroupRows * sizeof(double);

// The patterns of four rows. No group has kFree, because there are fewer patterns of rows.
using Key = unsigned long long;
constexpr Key kFree = ~Key{0};
__device__ Key key_of(const PatternId* patterns, std::int64_t group) {
  return __ldcs(reinterpret_cast<const Key*>(patterns) + group);
}
std::int32_t pattern_in(Key key, int row) {
  return static_cast<std::int32_t>((key >> (16 * row)) & 0xffff);
}

// Which place of the table a key gets differs from run to run. full: set to 1 where there are more
// keys than places.
__global__ void enter_keys(const PatternId* patterns, std::int64_t groups, Key* table,
                           std::int32_t* full) {
  const std::int64_t group = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (group >= groups) return;
  const Key key = key_of(patterns, group);
  auto place = static_cast<unsigned>((key * 0x9e3779b97f4a7c15ull) >> 40) % kPlaces;
  for (int tries = 0; tries < kPlaces; ++tries, place = (place + 1) % kPlaces) {
    Key found = *static_cast<volatile Key*>(table + place);
    if (found == kFree) found = atomicCAS(table + place, kFree, key);
    if (found == kFree || found == key) return;
  }
  *full = 1;
}

__global__ void number_groups(const PatternId* patterns, std::int64_t groups, const Key* keys,
                              std::int32_t count, std::uint16_t* of_groups) {
  const std::int64_t group = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (group >= groups) return;
  const Key key = key_of(patterns, group);
  std::int32_t first = 0, last = count - 1;
  while (first < last) {
    const std::int32_t middle = (first + last) / 2;
    if (__ldg(keys + middle) < key)
      first = middle + 1;
    else
      last = middle;
  }
  of_groups[group] = static_cast<std::uint16_t>(first);
}

// Four neighbouring numbers of x, from any place on. Past the ends of x there are other numbers of
// x, which meet values that are 0.
struct Neighbours {
  const float4* x;
  std::int32_t last;

  __device__ __forceinline__ float4 load(std::int32_t place) const {
    return __ldg(x + min(max(place, 0), last));
  }
  __device__ __forceinline__ float4 from(std::int32_t group, std::int32_t difference) const {
    const std::int32_t place = group + (difference >> 2);
    float4 a = load(place);
    if ((difference & 3) == 0) return a;
    float4 b = load(place + 1);
    if (difference & 2) a = {a.z, a.w, b.x, b.y}, b = {b.z, b.w, b.w, b.w};
    if (difference & 1) a = {a.y, a.z, a.w, b.x};
    return a;
  }
};

struct Groups {
  std::int32_t count = 0, width = 0, entries = 0;
  const std::uint16_t* of_groups = nullptr;
  const std::int32_t* differences = nullptr;
  const std::int32_t* places = nullptr;
  const float* values = nullptr;  // of the patterns of rows
  const float* x = nullptr;
  const float* x_of_rows = nullptr;
  const float* diagonal = nullptr;
  float* y = nullptr;
  double* dots = nullptr;
  std::int32_t dot_count = 0;

  __device__ __forceinline__ std::int32_t begin_of(std::int32_t group) const {
    return group < count ? __ldcs(of_groups + group) * width : 0;
  }
};

template <bool with_dot>
__global__ void __launch_bounds__(kThreads, tuning::kGroupBlocks) multiply_groups(Groups a) {
  extern __shared__ __align__(32) unsigned char memory[];
  auto* values = reinterpret_cast<double*>(memory);
  auto* differences = reinterpret_cast<std::int32_t*>(values + kGroupRows * a.entries);
  for (std::int32_t i = threadIdx.x; i < kGroupRows * a.entries; i += kThreads) {
    const std::int32_t place = __ldg(a.places + i);
    values[i] = place < 0 ? 0 : load<double>(a.values + place);
    if (i < a.entries) differences[i] = __ldg(a.differences + i);
  }
  __syncthreads();
  const Neighbours x{reinterpret_cast<const float4*>(a.x), a.count - 1};
  const auto stride = static_cast<std::int32_t>(gridDim.x) * kThreads;
  auto group = static_cast<std::int32_t>(blockIdx.x * kThreads + threadIdx.x);
  double dot = 0;
  std::int32_t begin = a.begin_of(group);
  for (; group < a.count; group += stride) {
    const std::int32_t next = a.begin_of(group + stride);
    double sums[kGroupRows] = {};
#pragma unroll 1
    for (std::int32_t step = begin; step < begin + a.width; step += tuning::kPatternSteps) {
      const int4 four = *reinterpret_cast<const int4*>(differences + step);
      const std::int32_t difference[] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int s = 0; s < tuning::kPatternSteps; ++s)
        if (difference[s] != kNoDifference) {
          const float4 of_x = x.from(group, difference[s]);
          const auto* value = reinterpret_cast<const double2*>(values + kGroupRows * (step + s));
          const double2 low = value[0], high = value[1];
          sums[0] += low.x * static_cast<double>(of_x.x);
          sums[1] += low.y * static_cast<double>(of_x.y);
          sums[2] += high.x * static_cast<double>(of_x.z);
          sums[3] += high.y * static_cast<double>(of_x.w);
        }
    }
    if (a.diagonal)
#pragma unroll
      for (int r = 0; r < kGroupRows; ++r)
        sums[r] = with_diagonal(sums[r], a.diagonal, a.x_of_rows, kGroupRows * group + r);
    reinterpret_cast<float4*>(a.y)[group] = {
        static_cast<float>(sums[0]), static_cast<float>(sums[1]), static_cast<float>(sums[2]),
        static_cast<float>(sums[3])};
    if constexpr (with_dot) {
      const float4 own = __ldg(reinterpret_cast<const float4*>(a.x_of_rows) + group);
      dot += (sums[0] * static_cast<double>(own.x) + sums[1] * static_cast<double>(own.y)) +
             (sums[2] * static_cast<double>(own.z) + sums[3] * static_cast<double>(own.w));
    }
    begin = next;
  }
  if constexpr (with_dot) {
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) a.dots[blockIdx.x] = dot;
    if (blockIdx.x == 0)
      for (auto i = static_cast<std::int32_t>(gridDim.x + threadIdx.x); i < a.dot_count;
           i += kThreads)
        a.dots[i] = 0;
  }
}

int blocks_for(std::int64_t groups) { return static_cast<int>((groups + kThreads - 1) / kThreads); }

template <class T>
DeviceBuffer<T> on_device(const std::vector<T>& from, StreamRef stream) {
  DeviceBuffer<T> to(from.size(), stream);
  copy_to_device(std::span<const T>(from), to.span(), stream);
  return to;
}

// The patterns of groups in the memory of the host.
struct HostPatterns {
  std::int32_t width = 0;
  std::vector<std::int32_t> differences, places;
};

HostPatterns patterns_of(const std::vector<Key>& keys, const std::vector<std::int32_t>& of_rows,
                         std::int32_t width_of_rows) {
  std::vector<std::vector<std::int32_t>> groups;
  HostPatterns patterns;
  for (const Key key : keys) {
    std::set<std::int32_t> differences;
    for (int row = 0; row < kGroupRows; ++row)
      for (std::int32_t j = 0; j < width_of_rows; ++j)
        differences.insert(of_rows[pattern_in(key, row) * width_of_rows + j]);
    differences.erase(kNoDifference);
    groups.emplace_back(differences.begin(), differences.end());
    const auto length = static_cast<std::int32_t>(differences.size());
    patterns.width = std::max(patterns.width, (length + tuning::kPatternSteps - 1) /
                                                  tuning::kPatternSteps * tuning::kPatternSteps);
  }
  for (std::size_t g = 0; g < keys.size(); ++g) {
    groups[g].resize(patterns.width, kNoDifference);
    for (const std::int32_t difference : groups[g]) {
      patterns.differences.push_back(difference);
      for (int row = 0; row < kGroupRows; ++row) {
        const auto first = of_rows.begin() + pattern_in(keys[g], row) * width_of_rows;
        const auto found = difference == kNoDifference
                               ? first + width_of_rows
                               : std::find(first, first + width_of_rows, difference);
        patterns.places.push_back(found == first + width_of_rows
                                      ? -1
                                      : static_cast<std::int32_t>(found - of_rows.begin()));
      }
    }
  }
  return patterns;
}

// A difference that is no multiple of four takes two loads and some instructions more.
bool mostly_aligned(const std::vector<std::int32_t>& differences) {
  std::int64_t aligned = 0, others = 0;
  for (const std::int32_t difference : differences)
    if (difference != kNoDifference) ++(difference % kGroupRows == 0 ? aligned : others);
  return aligned >= others;
}

bool at_multiple_of_16(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

}  // namespace

RepeatedGroups::RepeatedGroups(const DeviceLayout<float>& layout, StreamRef stream) {
  if (!layout.form.repeated || layout.form.sorted || layout.rows != layout.cols ||
      layout.rows % kGroupRows != 0 || layout.rows < tuning::kRowsOfGroups)
    return;
  const std::int64_t groups = layout.rows / kGroupRows;
  std::vector<Key> keys(kPlaces, kFree);
  {
    auto table = on_device(keys, stream);
    DeviceBuffer<std::int32_t> full(1, stream);
    fill_zero(full.span(), stream);
    enter_keys<<<blocks_for(groups), kThreads, 0, stream>>>(layout.patterns.data(), groups,
                                                            table.data(), full.data());
    check_launch();
    copy_to_host(table.view(), std::span(keys), stream);
    if (read_back(full.data(), stream) != 0) return;
  }
  std::erase(keys, kFree);
  std::sort(keys.begin(), keys.end());
  std::vector<std::int32_t> of_rows(layout.differences.size());
  copy_to_host(layout.differences.view(), std::span(of_rows), stream);
  synchronize(stream);
  const HostPatterns patterns = patterns_of(keys, of_rows, layout.pattern_width);
  if (patterns.differences.size() * kBytesPerEntry > tuning::kMaxSharedPatterns ||
      !mostly_aligned(patterns.differences))
    return;
  width_ = patterns.width;
  differences_ = on_device(patterns.differences, stream);
  places_ = on_device(patterns.places, stream);
  of_groups_ = DeviceBuffer<std::uint16_t>(groups, stream);
  const auto sorted_keys = on_device(keys, stream);
  number_groups<<<blocks_for(groups), kThreads, 0, stream>>>(
      layout.patterns.data(), groups, sorted_keys.data(), static_cast<std::int32_t>(keys.size()),
      of_groups_.data());
  check_launch();
  synchronize(stream);
  blocks_ = static_cast<int>(std::min<std::int64_t>(
      std::int64_t{tuning::kGroupBlocks} * multiprocessors(), blocks_for(groups)));
}

bool RepeatedGroups::takes(DeviceSpan<const float> x, DeviceSpan<const float> x_of_rows,
                           DeviceSpan<float> y) const {
  return blocks_ > 0 && at_multiple_of_16(x.data()) && at_multiple_of_16(x_of_rows.data()) &&
         at_multiple_of_16(y.data());
}

std::int64_t RepeatedGroups::stored_bytes() const {
  return static_cast<std::int64_t>(of_groups_.size() * sizeof(std::uint16_t) +
                                   (differences_.size() + places_.size()) * sizeof(std::int32_t));
}

void RepeatedGroups::multiply(const DeviceLayout<float>& layout, DeviceSpan<const float> x,
                              DeviceSpan<const float> x_of_rows, DeviceSpan<const float> diagonal,
                              DeviceSpan<float> y, DeviceSpan<double> dots,
                              StreamRef stream) const {
  const Groups groups{.count = static_cast<std::int32_t>(of_groups_.size()),
                      .width = width_,
                      .entries = static_cast<std::int32_t>(differences_.size()),
                      .of_groups = of_groups_.data(),
                      .differences = differences_.data(),
                      .places = places_.data(),
                      .values = layout.values.data(),
                      .x = x.data(),
                      .x_of_rows = x_of_rows.data(),
                      .diagonal = diagonal.data(),
                      .y = y.data(),
                      .dots = dots.data(),
                      .dot_count = static_cast<std::int32_t>(dots.size())};
  const std::size_t shared_bytes = differences_.size() * kBytesPerEntry;
  if (dots.empty())
    multiply_groups<false><<<blocks_, kThreads, shared_bytes, stream>>>(groups);
  else
    multiply_groups<true><<<blocks_, kThreads, shared_bytes, stream>>>(groups);
  check_launch();
}

}  // namespace trireme::sell
