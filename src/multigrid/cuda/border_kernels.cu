// SPDX-License-Identifier: BSD-3-Clause
// Groups of 1 to 32 lanes; each group takes one row of a border. Where the GPUs write into each
// other's memory, a kernel sends or receives within its work.
#include "multigrid/cuda/border_kernels.hpp"

#include <algorithm>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "distributed/peer_entries.cuh"
#include "multigrid/cuda/cycle_scale.cuh"

namespace trireme::multigrid {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, (threads + kThreads - 1) / kThreads));
}
unsigned blocks_for(const BorderView& m) {
  return blocks_for(std::int64_t{m.count} << m.lanes_shift);
}

// What other ranks have sent.
struct Arrived {
  using Parameter = const double*;
  const double* numbers;
  __device__ explicit Arrived(const double* from) : numbers(from) {}
  __device__ double at(std::int32_t k) const { return numbers[k]; }
  __device__ void close() const {}
};
struct Arriving : IncomingEntries {
  using Parameter = PeerHalo;
  using IncomingEntries::IncomingEntries;
};

struct RowOfThread {
  std::int32_t k;
  int lane;
  __device__ explicit RowOfThread(const BorderView& m) {
    const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    k = static_cast<std::int32_t>(thread >> m.lanes_shift);
    lane = static_cast<int>(thread & ((1 << m.lanes_shift) - 1));
  }
};

// The product of row k of the border; valid in the first lane of its group. `at` gives the numbers
// of the vector. All threads of a warp call it.
template <class At>
__device__ double product_of_row(const BorderView& m, std::int32_t k, int lane, const At& at) {
  const int lanes = 1 << m.lanes_shift;
  double sum = 0;
  if (k >= 0 && k < m.count)
    for (std::int32_t j = m.row_ptr[k] + lane; j < m.row_ptr[k + 1]; j += lanes)
      sum += m.values[j] * at(m.columns[j]);
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    sum += __shfl_down_sync(kFullWarp, sum, offset, lanes);
  return sum;
}

template <class Ghosts, class Number>
__global__ void __launch_bounds__(kThreads)
    complete_rows(const __grid_constant__ BorderView m,
                  const __grid_constant__ StepDataOf<Number> s, const CycleExponent* exponent,
                  const __grid_constant__ typename Ghosts::Parameter from) {
  const Ghosts ghosts(from);
  const RowOfThread at(m);
  const double sum = product_of_row(m, at.k, at.lane, [&](std::int32_t j) { return ghosts.at(j); });
  if (at.k < m.count && at.lane == 0) {
    const std::int32_t row = m.rows[at.k];
    if (s.kind == StepKind::residual) {
      s.to[row] -= static_cast<Number>(sum);
    } else if (s.kind == StepKind::smooth) {
      const double d = s.g * (s.w[row] * sum);
      if (s.d) s.d[row] -= static_cast<Number>(d);
      if (s.ends)
        s.z[row] -= d * (exponent ? scale_of_z(exponent->used) : 1.0);
      else
        s.to[row] -= static_cast<Number>(d);
    } else {
      s.to[row] += static_cast<Number>(sum);
    }
  }
  ghosts.close();
}

template <class Number>
__global__ void __launch_bounds__(kThreads)
    multiply_rows(const __grid_constant__ BorderView m, const Number* __restrict__ x,
                  double* __restrict__ to) {
  const RowOfThread at(m);
  const double sum = product_of_row(m, at.k, at.lane, [&](std::int32_t j) { return x[j]; });
  if (at.k < m.count && at.lane == 0) to[at.k] = sum;
}

// The same, for the rows that the outgoing entries name.
template <class Number>
__global__ void __launch_bounds__(kThreads)
    multiply_and_send(const __grid_constant__ BorderView m, const Number* __restrict__ x,
                      const __grid_constant__ PeerHalo halo, std::int32_t outgoing) {
  const OutgoingEntries entries(halo);
  const RowOfThread at(m);
  const std::int32_t row = at.k < outgoing ? halo.rows[at.k] : -1;
  const double sum = product_of_row(m, row, at.lane, [&](std::int32_t j) { return x[j]; });
  if (at.k < outgoing && at.lane == 0) entries.put(at.k, sum);
}

template <class Ghosts, class Number>
__global__ void __launch_bounds__(kThreads)
    add_terms(const __grid_constant__ GatheringView g, const Number* __restrict__ terms,
              const __grid_constant__ typename Ghosts::Parameter from, Number* __restrict__ to) {
  const Ghosts others(from);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < g.rows) {
    double sum = 0;
    for (std::int32_t k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
      const std::int32_t source = g.sources[k];
      sum += source < g.terms ? terms[source] : others.at(source - g.terms);
    }
    to[i] = static_cast<Number>(sum);
  }
  others.close();
}

__global__ void write_exponent(const CycleExponent* exponent, bool has_rows, double* number) {
  *number = has_rows ? exponent->found : 0;
}

// One block.
template <class Ghosts>
__global__ void __launch_bounds__(kThreads)
    take_largest_exponent(CycleExponent* exponent, const double* number, std::int32_t others,
                          const __grid_constant__ typename Ghosts::Parameter from) {
  const Ghosts arrived(from);
  __shared__ double all[kThreads];
  const auto k = static_cast<std::int32_t>(threadIdx.x);
  double largest = *number;
  for (std::int32_t i = k; i < others; i += kThreads) largest = max(largest, arrived.at(i));
  all[k] = largest;
  __syncthreads();
  if (k == 0) {
    for (const double other : all) largest = max(largest, other);
    exponent->found = static_cast<std::int32_t>(largest);
  }
  arrived.close();
}

__global__ void __launch_bounds__(kThreads)
    copy(const double* __restrict__ from, double* __restrict__ to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) to[i] = from[i];
}

}  // namespace

template <class Number>
void complete_step(const BorderView& border, const StepDataOf<Number>& s,
                   const CycleExponent* exponent, GpuExchange& exchange, StreamRef stream) {
  const unsigned blocks = blocks_for(border);
  if (const PeerHalo* const halo = exchange.peer_halo()) {
    complete_rows<Arriving><<<blocks, kThreads, 0, stream>>>(border, s, exponent, *halo);
  } else {
    const DeviceSpan<const double> ghosts = exchange.receive(stream);
    if (border.count == 0) return;
    complete_rows<Arrived><<<blocks, kThreads, 0, stream>>>(border, s, exponent, ghosts.data());
  }
  check_launch();
}

template <class Number>
void send_products(const BorderView& border, const Number* x, DeviceSpan<double> products,
                   GpuExchange& exchange, StreamRef stream) {
  if (const PeerHalo* const halo = exchange.peer_halo()) {
    exchange.check();
    const std::int32_t outgoing = halo->outgoing();
    multiply_and_send<<<blocks_for(std::int64_t{outgoing} << border.lanes_shift), kThreads, 0,
                        stream>>>(border, x, *halo, outgoing);
    return check_launch();
  }
  if (border.count > 0) {
    multiply_rows<<<blocks_for(border), kThreads, 0, stream>>>(border, x, products.data());
    check_launch();
  }
  exchange.send(DeviceSpan<const double>(products), stream);
}

template <class Number>
void gather_terms(const GatheringView& gathering, DeviceSpan<const Number> terms, Number* to,
                  GpuExchange& exchange, StreamRef stream) {
  exchange.send(terms, stream);
  const unsigned blocks = blocks_for(gathering.rows);
  if (const PeerHalo* const halo = exchange.peer_halo()) {
    add_terms<Arriving><<<blocks, kThreads, 0, stream>>>(gathering, terms.data(), *halo, to);
  } else {
    const DeviceSpan<const double> others = exchange.receive(stream);
    if (gathering.rows == 0) return;
    add_terms<Arrived><<<blocks, kThreads, 0, stream>>>(gathering, terms.data(), others.data(), to);
  }
  check_launch();
}

void find_largest_exponent(CycleExponent* exponent, std::int64_t rows, DeviceSpan<double> number,
                           GpuExchange& exchange, std::int32_t ranks, StreamRef stream) {
  write_exponent<<<1, 1, 0, stream>>>(exponent, rows > 0, number.data());
  check_launch();
  exchange.send(DeviceSpan<const double>(number), stream);
  if (const PeerHalo* const halo = exchange.peer_halo())
    take_largest_exponent<Arriving>
        <<<1, kThreads, 0, stream>>>(exponent, number.data(), ranks - 1, *halo);
  else
    take_largest_exponent<Arrived><<<1, kThreads, 0, stream>>>(exponent, number.data(), ranks - 1,
                                                               exchange.receive(stream).data());
  check_launch();
}

void copy_rows(const double* from, double* to, std::int64_t count, StreamRef stream) {
  if (count == 0) return;
  copy<<<blocks_for(count), kThreads, 0, stream>>>(from, to, count);
  check_launch();
}

template void complete_step(const BorderView&, const StepDataOf<float>&, const CycleExponent*,
                            GpuExchange&, StreamRef);
template void complete_step(const BorderView&, const StepDataOf<double>&, const CycleExponent*,
                            GpuExchange&, StreamRef);
template void send_products(const BorderView&, const float*, DeviceSpan<double>, GpuExchange&,
                            StreamRef);
template void send_products(const BorderView&, const double*, DeviceSpan<double>, GpuExchange&,
                            StreamRef);
template void gather_terms(const GatheringView&, DeviceSpan<const float>, float*, GpuExchange&,
                           StreamRef);
template void gather_terms(const GatheringView&, DeviceSpan<const double>, double*, GpuExchange&,
                           StreamRef);

}  // namespace trireme::multigrid
