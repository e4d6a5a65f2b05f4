// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels at the borders of ranks. All of them add in the order of the entries, lane by lane,
// so that every run gives the same bits. All are asynchronous in their stream.
#pragma once

#include <cstdint>

#include "device/stream.hpp"
#include "multigrid/cycle_step.hpp"

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

// Completes a step by the products of `border` with the ghosts. Where the step begins from zero,
// ghost k of x is s.start * ghost_inverse[k] * ghosts[k].
void complete_step(const BorderView& border, const StepData& s, const double* ghosts,
                   const double* ghost_inverse, StreamRef stream);

// to[rows[k]] = product of row k with x.
void multiply_border(const BorderView& border, const double* x, double* to, StreamRef stream);

// to[i] = sum of the terms sources[row_ptr[i]] .. sources[row_ptr[i+1]-1] of a Gathering.
struct GatheringView {
  std::int64_t rows = 0;
  std::int32_t terms = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* sources = nullptr;
};
void add_terms(const GatheringView& gathering, const double* terms, const double* others,
               double* to, StreamRef stream);

// to[i] = from[i] for i < count.
void copy_rows(const double* from, double* to, std::int64_t count, StreamRef stream);

}  // namespace trireme::multigrid
