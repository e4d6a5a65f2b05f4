// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels at the borders of ranks. All of them add in the order of the entries, lane by
// lane, so that every run gives the same bits. All are asynchronous in their stream.
#pragma once

#include <cstdint>

#include "device/stream.hpp"
#include "distributed/gpu_exchange.hpp"
#include "multigrid/cuda/cuda_steps.hpp"
#include "multigrid/cycle/cycle_step.hpp"

namespace trireme::multigrid {

// BorderRows in GPU memory.
struct BorderView {
  std::int32_t count = 0;
  std::int32_t lanes_shift = 0;  // 2^lanes_shift lanes per row
  const std::int32_t* rows = nullptr;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* columns = nullptr;
  const double* values = nullptr;
};

// Completes a step by the products of `border` with the ghosts that `exchange` brings, where its
// entries have been sent. A step that ends the cycle has the caller's result in s.z.
template <class Number>
void complete_step(const BorderView& border, const StepDataOf<Number>& s,
                   const CycleExponent* exponent, GpuExchange& exchange, StreamRef stream);

// Sends the products of the rows of `border` with x, one per entry of the exchange, whose plan
// numbers them as the rows. `products` takes them where they are not sent at once.
template <class Number>
void send_products(const BorderView& border, const Number* x, DeviceSpan<double> products,
                   GpuExchange& exchange, StreamRef stream);

// A Gathering in GPU memory.
struct GatheringView {
  std::int64_t rows = 0;
  std::int32_t terms = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* sources = nullptr;
};
// to[i] = sum of the terms of row i, of which this rank has `terms` and `exchange` brings the
// others.
template <class Number>
void gather_terms(const GatheringView& gathering, DeviceSpan<const Number> terms, Number* to,
                  GpuExchange& exchange, StreamRef stream);

// StepBorders::agree_on() by an exchange that takes one number of each rank to all others. `number`
// is room for one.
void find_largest_exponent(CycleExponent* exponent, std::int64_t rows, DeviceSpan<double> number,
                           GpuExchange& exchange, std::int32_t ranks, StreamRef stream);

// to[i] = from[i] for i < count.
void copy_rows(const double* from, double* to, std::int64_t count, StreamRef stream);

}  // namespace trireme::multigrid
