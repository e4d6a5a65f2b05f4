// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/cuda/cycle_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/buffer.hpp"
#include "device/check.hpp"

namespace trireme::multigrid {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::size_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

// Counts the numbers other than 0 whose size is not between `least` and `most`.
__global__ void count_outside(DeviceSpan<const double> numbers, double least, double most,
                              std::int32_t* count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= numbers.size()) return;
  const double size = fabs(numbers.data()[i]);
  if (size > most || (size > 0 && size < least)) atomicAdd(count, 1);
}

// Whether numbers on the host or on the GPU have a size other than 0 that is not between two
// bounds.
class OutsideBounds {
 public:
  explicit OutsideBounds(StreamRef stream) : stream_(stream), there_(1, stream) {
    fill_zero(there_.span(), stream_);
  }
  void add(DeviceSpan<const double> numbers, double least, double most) {
    if (numbers.empty()) return;
    count_outside<<<blocks_for(numbers.size()), kThreads, 0, stream_>>>(numbers, least, most,
                                                                        there_.data());
    check_launch();
  }
  void add(std::span<const double> numbers, double least, double most) {
    here_ += std::count_if(numbers.begin(), numbers.end(), [&](double number) {
      const double size = std::abs(number);
      return size > most || (size > 0 && size < least);
    });
  }
  bool any() { return here_ != 0 || read_back(there_.data(), stream_) != 0; }

 private:
  StreamRef stream_;
  std::int64_t here_ = 0;
  ScratchBuffer<std::int32_t> there_;
};

template <class LevelParts>
bool serve(std::span<const LevelParts> levels, StreamRef stream) {
  constexpr double kLeast = 1e-25, kMost = 1e25;
  if (levels.empty() || levels.front().kind == CycleLevel::Kind::solved) return false;
  OutsideBounds outside(stream);
  for (const LevelParts& level : levels) {
    if (level.kind == CycleLevel::Kind::smoothed && level.precision != Precision::mixed)
      return false;
    if (level.p.rows > 0 && level.transfer_precision != Precision::mixed) return false;
    outside.add(level.inverse, kLeast, kMost);
    outside.add(level.dense_inverse, 0, kMost);
  }
  return !outside.any();
}

}  // namespace

bool serves_in_fp32(std::span<const HostLevelParts> levels, StreamRef stream) {
  return serve(levels, stream);
}
bool serves_in_fp32(std::span<const DeviceLevelParts> levels, StreamRef stream) {
  return serve(levels, stream);
}

}  // namespace trireme::multigrid
