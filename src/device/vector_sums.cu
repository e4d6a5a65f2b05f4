// SPDX-License-Identifier: BSD-3-Clause
// One launch per pass: the block that ends last adds up what the blocks have found.
#include "device/vector_sums.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <span>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/device.hpp"

namespace trireme {
namespace {

constexpr int kThreads = 256;
constexpr int kRowsPerThread = 4;  // at least, of a large vector
constexpr int kBlocksPerMultiprocessor = 4;
constexpr int kLooks = 30'000;  // of the host at memory in its cache: some tens of microseconds

struct Found {
  double largest = 0;
  double sums[3] = {0, 0, 0};

  __device__ void add(const Found& other) {
    largest = fmax(largest, other.largest);
    for (int k = 0; k < 3; ++k) sums[k] += other.sums[k];
  }
};

// What the host reads.
struct Total {
  Found found;
  double pass;  // written last
};

__device__ double block_max(double value) {
  __shared__ double of_warp[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2)
    value = fmax(value, __shfl_down_sync(kFullWarp, value, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  for (const double other : of_warp) value = fmax(value, other);
  return value;
}

// Thread 0 gets what the block has found.
__device__ Found over_block(Found found) {
  found.largest = block_max(found.largest);
  for (double& sum : found.sums) sum = block_sum<kThreads>(sum);
  return found;
}

template <class Terms>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(std::int64_t size, Terms terms, double pass, Found* of_blocks, unsigned* arrived,
                  Total* total) {
  Found found;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * kThreads)
    terms(i, found);
  found = over_block(found);
  __shared__ bool last;
  if (threadIdx.x == 0) {
    of_blocks[blockIdx.x] = found;
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  Found all;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += kThreads) {
    const volatile Found& other = of_blocks[block];
    Found copy;
    copy.largest = other.largest;
    for (int k = 0; k < 3; ++k) copy.sums[k] = other.sums[k];
    all.add(copy);
  }
  all = over_block(all);
  if (threadIdx.x == 0) {
    *arrived = 0;
    total->found = all;
    __threadfence_system();
    *static_cast<volatile double*>(&total->pass) = pass;
  }
}

struct TermsOfVector {
  const double* v;
  __device__ void operator()(std::int64_t i, Found& found) const {
    const double value = v[i];
    const bool finite = isfinite(value);
    if (finite) found.largest = fmax(found.largest, fabs(value));
    found.sums[0] += value * value;
    found.sums[1] += finite ? 0 : 1;
  }
};

struct TermsOfResidual {
  const double* b;
  double* r;
  const double* sizes;  // null: none
  __device__ void operator()(std::int64_t i, Found& found) const {
    const double of_b = b[i];
    const double value = of_b - r[i];
    r[i] = value;
    found.sums[0] += value * value;
    if (!sizes) return;
    const double size = sizes[i];
    found.sums[1] += size * value * (size * value);
    found.sums[2] += size * of_b * (size * of_b);
  }
};

__global__ void __launch_bounds__(kThreads)
    scale_kernel(std::int64_t size, const double* from, int exponent, double sign, double* to) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * kThreads)
    to[i] = sign * ldexp(from[i], exponent);
}

int most_blocks() { return multiprocessors() * kBlocksPerMultiprocessor; }

int blocks_for(std::size_t size, int most) {
  constexpr std::size_t of_block = std::size_t{kThreads} * kRowsPerThread;
  return static_cast<int>(
      std::clamp<std::size_t>((size + of_block - 1) / of_block, 1, static_cast<std::size_t>(most)));
}

}  // namespace

VectorSums::VectorSums(StreamRef stream)
    : stream_(stream),
      most_blocks_(most_blocks()),
      partials_(static_cast<std::size_t>(most_blocks_) * (1 + kSums), stream),
      arrived_(1, stream),
      totals_(2 + kSums),
      totals_there_(totals_.device_span().data()) {
  static_assert(sizeof(Found) == (1 + kSums) * sizeof(double));
  static_assert(sizeof(Total) == (2 + kSums) * sizeof(double));
  totals_.span().back() = pass_;
  fill_zero(arrived_.span(), stream);
}

// The host looks at the totals for some time before it waits for the stream, which takes longer
// than the pass over a small vector.
template <class Terms>
void VectorSums::reduce(std::size_t size, const Terms& terms) {
  pass_ += 1;
  reduce_kernel<<<blocks_for(size, most_blocks_), kThreads, 0, stream_>>>(
      static_cast<std::int64_t>(size), terms, pass_, reinterpret_cast<Found*>(partials_.data()),
      arrived_.data(), reinterpret_cast<Total*>(totals_there_));
  check_launch();
  double& seen = totals_.span().back();
  for (int look = 0; look < kLooks; ++look)
    if (std::atomic_ref(seen).load(std::memory_order_acquire) == pass_) return;
  synchronize(stream_);
}

VectorFacts VectorSums::facts_of(DeviceSpan<const double> v) {
  reduce(v.size(), TermsOfVector{v.data()});
  const double* const found = totals_.data();
  return {.largest = found[0], .squares = found[1], .finite = found[2] == 0};
}

ResidualSums VectorSums::subtract_from(DeviceSpan<const double> b, DeviceSpan<double> r,
                                       DeviceSpan<const double> sizes) {
  reduce(r.size(), TermsOfResidual{b.data(), r.data(), sizes.data()});
  const double* const found = totals_.data();
  return {.squares = found[1], .of_rows = found[2], .of_rows_and_b = found[3]};
}

void scale_on_device(DeviceSpan<const double> from, int exponent, bool negated,
                     DeviceSpan<double> to, StreamRef stream) {
  scale_kernel<<<blocks_for(from.size(), most_blocks()), kThreads, 0, stream>>>(
      static_cast<std::int64_t>(from.size()), from.data(), exponent, negated ? -1.0 : 1.0,
      to.data());
  check_launch();
}

}  // namespace trireme
