// SPDX-License-Identifier: BSD-3-Clause
// The blocks of block Jacobi, and their inverses on the host.
#include "solvers/preconditioners/block_jacobi.hpp"

#include <algorithm>
#include <cmath>

namespace trireme::solvers {
namespace {

// Gauss-Jordan with partial pivoting on the width x width block at `a`, rows `stride` apart. With
// `magnitudes`, the result is the inverse times -1 where the first entry is negative.
bool invert_block(double* a, std::int64_t stride, int width, bool magnitudes) {
  const bool negate = magnitudes && a[0] < 0;
  int pivots[32];
  for (int k = 0; k < width; ++k) {
    int pivot = k;
    for (int i = k + 1; i < width; ++i)
      if (std::abs(a[i * stride + k]) > std::abs(a[pivot * stride + k])) pivot = i;
    pivots[k] = pivot;
    if (pivot != k)
      for (int j = 0; j < width; ++j) std::swap(a[k * stride + j], a[pivot * stride + j]);
    const double diagonal = a[k * stride + k];
    if (diagonal == 0 || !std::isfinite(diagonal)) return false;
    a[k * stride + k] = 1;
    for (int j = 0; j < width; ++j) a[k * stride + j] /= diagonal;
    for (int i = 0; i < width; ++i) {
      if (i == k) continue;
      const double factor = std::exchange(a[i * stride + k], 0.0);
      for (int j = 0; j < width; ++j) a[i * stride + j] -= factor * a[k * stride + j];
    }
  }
  for (int k = width - 1; k >= 0; --k)
    if (pivots[k] != k)
      for (int i = 0; i < width; ++i) std::swap(a[i * stride + k], a[i * stride + pivots[k]]);
  if (negate)
    for (int i = 0; i < width; ++i)
      for (int j = 0; j < width; ++j) a[i * stride + j] = -a[i * stride + j];
  return true;
}

}  // namespace

Array<RowGroup> BlockRows::groups() const {
  Array<RowGroup> group(static_cast<std::size_t>(rows));
  for (std::size_t k = 0; k + 1 < starts.size(); ++k)
    std::fill(group.begin() + starts[k], group.begin() + starts[k + 1],
              RowGroup{starts[k], starts[k + 1]});
  return group;
}

BlockRows block_rows(const PreconditionerSpec& spec, std::int64_t rows) {
  BlockRows blocks;
  blocks.rows = rows;
  blocks.magnitudes = spec.magnitudes;
  blocks.first_row = spec.first_row;
  blocks.callers_rows = spec.callers_rows;
  blocks.size = spec.block_size;
  if (blocks.size < 1 || blocks.size > 32)
    fail(ExitCode::usage, "block Jacobi takes blocks of up to 32 rows, not {}", blocks.size);
  blocks.natural = spec.group_starts.empty();
  if (blocks.natural) {
    for (std::int64_t row = 0; row < rows; row += blocks.size)
      blocks.starts.push_back(static_cast<std::int32_t>(row));
    blocks.starts.push_back(static_cast<std::int32_t>(rows));
    return blocks;
  }
  blocks.starts.assign(spec.group_starts.begin(), spec.group_starts.end());
  if (blocks.starts.front() != 0 || blocks.starts.back() != rows)
    fail(ExitCode::usage, "block Jacobi's row groups cover rows {} to {}, not 0 to {}",
         blocks.starts.front(), blocks.starts.back(), rows);
  for (std::size_t k = 0; k + 1 < blocks.starts.size(); ++k)
    if (const std::int32_t width = blocks.starts[k + 1] - blocks.starts[k];
        width < 1 || width > blocks.size)
      fail(ExitCode::usage, "block Jacobi: the group from row {} has {} rows, not 1 to {}",
           blocks.starts[k], width, blocks.size);
  return blocks;
}

void refuse_singular_block(const BlockRows& blocks, std::int64_t row) {
  fail(ExitCode::input,
       "block Jacobi: the diagonal block from row {} (from 0) is singular; use preconditioner "
       "jacobi, or none where an entry of the diagonal is zero",
       blocks.callers_rows.empty() ? blocks.first_row + row : blocks.callers_rows[row]);
}

Array<double> invert_blocks(const BlockRows& blocks, const PreconditionerSpec& spec) {
  const std::int32_t size = blocks.size;
  if (static_cast<std::int64_t>(spec.blocks.size()) != blocks.rows * size)
    fail(ExitCode::usage, "block Jacobi needs {} entries of diagonal blocks, not {}",
         blocks.rows * size, spec.blocks.size());
  Array<double> inverse(spec.blocks.begin(), spec.blocks.end());
  const auto groups = static_cast<std::int64_t>(blocks.starts.size()) - 1;
  std::int64_t singular = blocks.rows;
#pragma omp parallel for schedule(static) reduction(min : singular)
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int32_t first = blocks.starts[g];
    if (!invert_block(inverse.data() + std::int64_t{first} * size, size,
                      blocks.starts[g + 1] - first, blocks.magnitudes))
      singular = std::min<std::int64_t>(singular, first);
  }
  if (singular < blocks.rows) refuse_singular_block(blocks, singular);
  return inverse;
}

}  // namespace trireme::solvers
