// SPDX-License-Identifier: BSD-3-Clause
// The GPU as a place for the functors of the set-up: what host_place.hpp is on the host, by kernels
// in one stream. Sums have the bits of the host, which adds the terms of a block by halves as well.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/block_sum.cuh"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/select.hpp"
#include "multigrid/set_up/host_place.hpp"

namespace trireme::multigrid {

namespace place_kernels {

inline constexpr int kSumThreads = 256;

template <class F>
__global__ void for_each(std::int64_t n, const F f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    f(i);
}

template <class F, class Value>
__global__ void write_each(std::int64_t n, const F f, Value* to) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step)
    to[i] = static_cast<Value>(f(i));
}

// sums[b] = the sum of f(i) over the block b of kSumBlock numbers i.
template <class F>
__global__ void __launch_bounds__(kSumThreads) sum_blocks(std::int64_t n, const F f, double* sums) {
  static_assert(kSumThreads == HostPlace::kSumBlock);
  for (std::int64_t b = blockIdx.x; b * kSumThreads < n; b += gridDim.x) {
    const std::int64_t i = b * kSumThreads + threadIdx.x;
    const double sum = block_sum<kSumThreads>(i < n ? double(f(i)) : 0.0);
    if (threadIdx.x == 0) sums[b] = sum;
  }
}

// *sum = the sum of the parts, by one block.
static __global__ void __launch_bounds__(kSumThreads)
    sum_parts(std::int64_t count, const double* parts, double* sum) {
  double total = 0;
#pragma unroll 8
  for (std::int64_t part = threadIdx.x; part < count; part += kSumThreads) total += parts[part];
  total = block_sum<kSumThreads>(total);
  if (threadIdx.x == 0) *sum = total;
}

// sums[blockIdx.x] = the sum of this block's terms.
template <class F>
__global__ void __launch_bounds__(kSumThreads) add_up(std::int64_t n, const F f, double* sums) {
  double sum = 0;
  for (std::int64_t i = blockIdx.x * std::int64_t{kSumThreads} + threadIdx.x; i < n;
       i += gridDim.x * std::int64_t{kSumThreads})
    sum += f(i);
  sum = block_sum<kSumThreads>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <class Value>
struct Read {
  const Value* from;
  __host__ __device__ Value operator()(std::int64_t i) const { return from[i]; }
};

struct Larger {
  template <class Value>
  __host__ __device__ Value operator()(const Value& a, const Value& b) const {
    if (a != a) return b;
    return a < b ? b : a;
  }
};

// most[blockIdx.x] = the maximum over this block's numbers i.
template <class F, class Value>
__global__ void __launch_bounds__(kSumThreads)
    find_maximum(std::int64_t n, const F f, Value least, Value* most) {
  __shared__ Value found[kSumThreads];
  const Larger larger;
  Value mine = least;
  for (std::int64_t i = blockIdx.x * std::int64_t{kSumThreads} + threadIdx.x; i < n;
       i += gridDim.x * std::int64_t{kSumThreads})
    mine = larger(mine, static_cast<Value>(f(i)));
  found[threadIdx.x] = mine;
  for (int half = kSumThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half)
      found[threadIdx.x] = larger(found[threadIdx.x], found[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) most[blockIdx.x] = found[0];
}

// Whether numbers[i] is kept.
template <class F>
struct KeepsElement {
  const std::int32_t* numbers;
  F keeps;
  __device__ bool operator()(std::int64_t i) const { return keeps(numbers[i]); }
};
// Whether the number i is kept.
template <class F>
struct KeepsNumber {
  F keeps;
  __device__ bool operator()(std::int64_t i) const { return keeps(static_cast<std::int32_t>(i)); }
};

}  // namespace place_kernels

class CudaPlace {
 public:
  explicit CudaPlace(StreamRef stream) : stream_(stream) {}
  StreamRef stream() const { return stream_; }

  // Uninitialised memory, which is freed in the stream.
  template <class T>
  ScratchBuffer<T> array(std::int64_t count) const {
    return ScratchBuffer<T>(static_cast<std::size_t>(count), stream_);
  }

  // Runs f(i) for 0 <= i < n.
  template <class F>
  void for_each(std::int64_t n, const F& f) const {
    if (n == 0) return;
    const Shape shape(n);
    place_kernels::for_each<<<shape.blocks, shape.threads, 0, stream_>>>(n, f);
    check_launch();
  }

  // to[i] = f(i) for 0 <= i < n.
  template <class F, class Value>
  void write_each(std::int64_t n, const F& f, Value* to) const {
    if (n == 0) return;
    const Shape shape(n);
    place_kernels::write_each<<<shape.blocks, shape.threads, 0, stream_>>>(n, f, to);
    check_launch();
  }

  // *to = the sum of f(i) over 0 <= i < n, with the bits of HostPlace::sum().
  template <class F>
  void sum_into(std::int64_t n, const F& f, double* to) const {
    const std::int64_t blocks = (n + HostPlace::kSumBlock - 1) / HostPlace::kSumBlock;
    const ScratchBuffer<double> parts = array<double>(blocks);
    if (n > 0)
      place_kernels::sum_blocks<<<static_cast<unsigned>(std::min<std::int64_t>(blocks, kMaxBlocks)),
                                  place_kernels::kSumThreads, 0, stream_>>>(n, f, parts.data());
    check_launch();
    place_kernels::sum_parts<<<1, place_kernels::kSumThreads, 0, stream_>>>(blocks, parts.data(),
                                                                            to);
    check_launch();
  }

  // Returns the sum of whole numbers f(i) over 0 <= i < n. Waits for the stream.
  template <class F>
  std::int64_t count(std::int64_t n, const F& f) const {
    if (n == 0) return 0;
    const ScratchBuffer<double> total = array<double>(1);
    add_up(n, f, total.data());
    return static_cast<std::int64_t>(read_back(total.data(), stream_));
  }

  // *to = the sum of f(i) in an order that suits a GPU and depends on n only. `n` is above 0.
  template <class F>
  void add_up(std::int64_t n, const F& f, double* to) const {
    const unsigned blocks = blocks_of_sums(n);
    const ScratchBuffer<double> parts = array<double>(blocks);
    place_kernels::add_up<<<blocks, place_kernels::kSumThreads, 0, stream_>>>(n, f, parts.data());
    check_launch();
    place_kernels::add_up<<<1, place_kernels::kSumThreads, 0, stream_>>>(
        blocks, place_kernels::Read<double>{parts.data()}, to);
    check_launch();
  }

  // The maximum of f(i) over 0 <= i < n, or `least` without any. NaN counts for nothing. Waits for
  // the stream.
  template <class F, class Value>
  Value maximum(std::int64_t n, Value least, const F& f) const {
    if (n == 0) return least;
    const unsigned blocks = blocks_of_sums(n);
    const ScratchBuffer<Value> parts = array<Value>(blocks + 1);
    Value* const largest = parts.data() + blocks;
    place_kernels::find_maximum<<<blocks, place_kernels::kSumThreads, 0, stream_>>>(n, f, least,
                                                                                    parts.data());
    check_launch();
    place_kernels::find_maximum<<<1, place_kernels::kSumThreads, 0, stream_>>>(
        blocks, place_kernels::Read<Value>{parts.data()}, least, largest);
    check_launch();
    return read_back(largest, stream_);
  }

  // Turns the counts in sums[0 .. n-1] into the places where each begins. sums[n] becomes the
  // total, which is also returned; it is right where it does not fit into 32 bits. Waits for the
  // stream.
  std::int64_t sum_exclusively(DeviceSpan<std::int32_t> sums) const {
    fill_zero(sums.subspan(sums.size() - 1, 1), stream_);
    const ScratchBuffer<std::int64_t> total = array<std::int64_t>(1);
    write_total(sums, total.data(), stream_);
    exclusive_sum_in_place(sums, stream_);
    return read_back(total.data(), stream_);
  }

  // Returns those of the numbers for which keeps(number) holds, in their order. Waits for the
  // stream.
  template <class F>
  ScratchBuffer<std::int32_t> select(DeviceSpan<const std::int32_t> numbers, const F& keeps) const {
    const auto count = static_cast<std::int64_t>(numbers.size());
    const auto flags = flags_of(count, place_kernels::KeepsElement<F>{numbers.data(), keeps});
    const auto kept = array<std::int32_t>(count);
    return front_of(kept, select_flagged(flags.view(), numbers, kept.span(), stream_));
  }

  // The same for the numbers 0 .. count - 1.
  template <class F>
  ScratchBuffer<std::int32_t> select(std::int64_t count, const F& keeps) const {
    const auto flags = flags_of(count, place_kernels::KeepsNumber<F>{keeps});
    const auto kept = array<std::int32_t>(count);
    return front_of(kept, select_flagged(flags.view(), kept.span(), stream_));
  }

 private:
  template <class F>
  ScratchBuffer<std::uint8_t> flags_of(std::int64_t count, const F& flag) const {
    auto flags = array<std::uint8_t>(count);
    write_each(count, flag, flags.data());
    return flags;
  }

  ScratchBuffer<std::int32_t> front_of(const ScratchBuffer<std::int32_t>& numbers,
                                       std::int64_t count) const {
    auto front = array<std::int32_t>(count);
    copy_on_device(numbers.view().subspan(0, count), front.span(), stream_);
    return front;
  }

  static constexpr std::int64_t kMaxBlocks = 1 << 20;

  static unsigned blocks_of_sums(std::int64_t n) {
    return static_cast<unsigned>(std::min<std::int64_t>(
        (n + place_kernels::kSumThreads - 1) / place_kernels::kSumThreads, 1024));
  }

  // Few items are spread over all multiprocessors by small blocks.
  struct Shape {
    explicit Shape(std::int64_t n) : threads(n < 1 << 15 ? 32 : 256) {
      blocks =
          static_cast<unsigned>(std::min<std::int64_t>((n + threads - 1) / threads, kMaxBlocks));
    }
    unsigned threads, blocks = 0;
  };

  StreamRef stream_;
};

}  // namespace trireme::multigrid
