// SPDX-License-Identifier: BSD-3-Clause
// The elimination of dense_inverse.cpp on a GPU: two kernels per step, in the order of the host's
// operations, so that the bits are the same. The matrix of some hundred rows stays in the L2 cache.
//
// choose   one block finds the largest of the row maxima, and notes the pivot and the end of the
//          elimination
// step     one block per row: rows and columns change places, row i loses its multiple of the pivot
//          row, and its largest entry behind the pivot is found. The matrix is read from one copy
//          and written to another, because blocks read rows that others write.
#include <cstdint>
#include <utility>
#include <vector>

#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_parts.hpp"

namespace trireme::multigrid {
namespace {

constexpr int kThreads = 128;

// The largest entry that has been seen, of equal ones the first by `order`.
struct Candidate {
  double size;
  std::int64_t order;
  std::int64_t at;

  __device__ bool before(const Candidate& other) const {
    return size > other.size || (size == other.size && order < other.order);
  }
};

// All threads call it; all get the result.
__device__ Candidate best_of_block(Candidate mine) {
  __shared__ Candidate candidates[kThreads];
  __syncthreads();
  candidates[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half &&
        candidates[threadIdx.x + half].before(candidates[threadIdx.x]))
      candidates[threadIdx.x] = candidates[threadIdx.x + half];
  }
  __syncthreads();
  return candidates[0];
}

struct Pivot {
  std::int64_t row, col;
  std::int64_t rank;   // steps that have been done
  double first;        // the size of the first pivot
  std::int32_t ended;  // whether no usable pivot is left
};

struct Matrix {
  std::int64_t n;
  double* values;
  double* largest;      // of each row behind the pivots, by modulus
  std::int64_t* where;  // its column
};

// The diagonal entry comes before others of the same size, and then the first one.
__device__ void note_largest(const Matrix& m, const double* line, std::int64_t i,
                             std::int64_t first) {
  Candidate mine{-1, INT64_MAX, first};
  for (std::int64_t j = first + threadIdx.x; j < m.n; j += kThreads) {
    const Candidate other{std::abs(line[j]), j == i ? -1 : j, j};
    if (other.before(mine)) mine = other;
  }
  mine = best_of_block(mine);
  if (threadIdx.x > 0) return;
  m.largest[i] = mine.size;
  m.where[i] = mine.at;
}

__global__ void __launch_bounds__(kThreads) find_largest(const Matrix m) {
  note_largest(m, m.values + blockIdx.x * m.n, blockIdx.x, 0);
}

__global__ void __launch_bounds__(kThreads)
    choose(const Matrix m, std::int64_t k, Pivot* pivot, std::int64_t* rows, std::int64_t* cols) {
  Candidate mine{-1, INT64_MAX, k};
  for (std::int64_t i = k + threadIdx.x; i < m.n; i += kThreads) {
    const Candidate other{m.largest[i], i, i};
    if (other.before(mine)) mine = other;
  }
  mine = best_of_block(mine);
  if (threadIdx.x > 0 || pivot->ended) return;
  if (k == 0) pivot->first = mine.size;
  if (!(mine.size > pivot->first * kZeroPivot * static_cast<double>(m.n))) {
    pivot->ended = 1;
    return;
  }
  pivot->row = mine.at;
  pivot->col = m.where[mine.at];
  pivot->rank = k + 1;
  const std::int64_t row = rows[k], col = cols[k];
  rows[k] = rows[pivot->row];
  rows[pivot->row] = row;
  cols[k] = cols[pivot->col];
  cols[pivot->col] = col;
}

// `to` has values of its own; the other arrays are those of `from`.
__global__ void __launch_bounds__(kThreads)
    step(const Matrix from, const Matrix to, std::int64_t k, const Pivot* pivot) {
  const std::int64_t n = from.n, i = blockIdx.x;
  double* const line = to.values + i * n;
  if (pivot->ended) {
    for (std::int64_t j = threadIdx.x; j < n; j += kThreads) line[j] = from.values[i * n + j];
    return;
  }
  const std::int64_t row = pivot->row, col = pivot->col;
  // Row i and column j of the matrix after the exchange lie there in `from`.
  const auto old_row = [&](std::int64_t r) { return r == k ? row : r == row ? k : r; };
  const auto old_col = [&](std::int64_t c) { return c == k ? col : c == col ? k : c; };
  const double* const pivot_line = from.values + row * n;
  const double* const own_line = from.values + old_row(i) * n;
  const double inverse = 1 / pivot_line[col];
  const double factor = own_line[col];
  for (std::int64_t j = threadIdx.x; j < n; j += kThreads) {
    const double scaled = (j == k ? 1 : pivot_line[old_col(j)]) * inverse;
    if (i == k)
      line[j] = scaled;
    else
      line[j] = (j == k ? 0 : own_line[old_col(j)]) - factor * scaled;
  }
  __syncthreads();
  if (i > k) note_largest(to, line, i, k + 1);
}

}  // namespace

void eliminate_on_device(Elimination& e, StreamRef stream) {
  const CudaPlace place(stream);
  const std::int64_t n = e.n;
  e.rows.resize(n);
  e.cols.resize(n);
  for (std::int64_t i = 0; i < n; ++i) e.rows[i] = e.cols[i] = i;
  e.rank = 0;
  if (n == 0) return;
  auto values = place.array<double>(n * n), other = place.array<double>(n * n);
  const auto largest = place.array<double>(n);
  const auto where = place.array<std::int64_t>(n), rows = place.array<std::int64_t>(n),
             cols = place.array<std::int64_t>(n);
  const auto pivot = place.array<Pivot>(1);
  copy_to_device(std::span<const double>(e.values), values.span(), stream);
  copy_to_device(std::span<const std::int64_t>(e.rows), rows.span(), stream);
  copy_to_device(std::span<const std::int64_t>(e.cols), cols.span(), stream);
  fill_zero(pivot.span(), stream);
  const auto view = [&](const ScratchBuffer<double>& of) {
    return Matrix{n, of.data(), largest.data(), where.data()};
  };
  const auto blocks = static_cast<unsigned>(n);
  find_largest<<<blocks, kThreads, 0, stream>>>(view(values));
  check_launch();
  for (std::int64_t k = 0; k < n; ++k) {
    choose<<<1, kThreads, 0, stream>>>(view(values), k, pivot.data(), rows.data(), cols.data());
    check_launch();
    step<<<blocks, kThreads, 0, stream>>>(view(values), view(other), k, pivot.data());
    check_launch();
    std::swap(values, other);
  }
  copy_to_host(values.view(), std::span(e.values), stream);
  copy_to_host(rows.view(), std::span(e.rows), stream);
  copy_to_host(cols.view(), std::span(e.cols), stream);
  e.rank = read_back(pivot.data(), stream).rank;
}

}  // namespace trireme::multigrid
