// SPDX-License-Identifier: BSD-3-Clause
// Inverse diagonals and blocks; the extreme eigenvalues of a Lanczos matrix.
#include "solvers/preconditioners/preconditioner_setup.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/split_mix.hpp"

namespace trireme::solvers {
namespace {

template <class Inverse>
void set_diagonal(std::span<const double> diagonal, const Inverse& inverse,
                  PreparedPreconditioner& result) {
  const bool constant = std::all_of(diagonal.begin(), diagonal.end(),
                                    [&](double d) { return d == diagonal.front(); });
  if (constant) {
    if (!diagonal.empty()) result.constant = inverse(diagonal.front());
    return;
  }
  result.inverse_diagonal.resize(diagonal.size());
  std::transform(diagonal.begin(), diagonal.end(), result.inverse_diagonal.begin(), inverse);
}

// Gauss-Jordan with partial pivoting on the width x width block at `a`, rows `stride` apart.
bool invert_block(double* a, std::int64_t stride, int width) {
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
  return true;
}

void invert_blocks(const PreconditionerSpec& spec, std::int64_t rows,
                   PreparedPreconditioner& result) {
  const BlockRows blocks = block_rows(spec, rows);
  const std::int32_t size = blocks.size;
  if (static_cast<std::int64_t>(spec.blocks.size()) != rows * size)
    fail(ExitCode::usage, "block Jacobi needs {} entries of diagonal blocks, not {}", rows * size,
         spec.blocks.size());
  result.block_size = size;
  result.inverse_blocks.assign(spec.blocks.begin(), spec.blocks.end());
  if (!blocks.natural) result.group = blocks.groups();
  const auto groups = static_cast<std::int64_t>(blocks.starts.size()) - 1;
  std::int64_t singular = rows;
#pragma omp parallel for schedule(static) reduction(min : singular)
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int32_t first = blocks.starts[g];
    if (!invert_block(result.inverse_blocks.data() + std::int64_t{first} * size, size,
                      blocks.starts[g + 1] - first))
      singular = std::min<std::int64_t>(singular, first);
  }
  if (singular < rows) refuse_singular_block(blocks, singular);
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
  blocks.first_row = spec.first_row;
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
       "jacobi",
       blocks.first_row + row);
}

PreparedPreconditioner prepare(const PreconditionerSpec& spec, std::int64_t rows) {
  PreparedPreconditioner result;
  if (spec.kind == PreconditionerSpec::Kind::none) return result;
  if (spec.kind == PreconditionerSpec::Kind::blocks) {
    result.kind = Preconditioner::Kind::blocks;
    invert_blocks(spec, rows, result);
    return result;
  }
  const bool inverted = !spec.inverse_diagonal.empty();
  const std::span<const double> diagonal = inverted ? spec.inverse_diagonal : spec.diagonal;
  if (static_cast<std::int64_t>(diagonal.size()) != rows)
    fail(ExitCode::usage, "Jacobi needs {} diagonal entries, not {}", rows, diagonal.size());
  if (inverted)
    set_diagonal(
        diagonal, [](double d) { return d; }, result);
  else
    set_diagonal(
        diagonal, [](double d) { return d == 0 ? 1 : 1 / d; }, result);
  if (spec.kind == PreconditionerSpec::Kind::chebyshev) {
    if (spec.degree < 1 || spec.degree > 100)
      fail(ExitCode::usage, "the Chebyshev polynomial has a degree of 1 to 100, not {}",
           spec.degree);
    result.kind = Preconditioner::Kind::chebyshev;
    result.degree = spec.degree;
  }
  return result;
}

Preconditioner host_view(const PreparedPreconditioner& prepared) {
  Preconditioner m;
  m.kind = prepared.kind;
  m.inverse_diagonal.constant = prepared.constant;
  if (!prepared.inverse_diagonal.empty())
    m.inverse_diagonal.values = prepared.inverse_diagonal.data();
  m.inverse_blocks = prepared.inverse_blocks.data();
  m.group = prepared.group.empty() ? nullptr : prepared.group.data();
  m.block_size = prepared.block_size;
  m.degree = prepared.degree;
  return m;
}

// Saad, Iterative Methods, section 6.7.3: T(k,k) = 1/alpha_k + beta_{k-1}/alpha_{k-1},
// T(k,k+1) = sqrt(beta_k)/alpha_k.
void LanczosBounds::add(double alpha, double beta) {
  diagonal_.push_back(1 / alpha + last_beta_over_alpha_);
  off_diagonal_.push_back(std::sqrt(std::max(beta, 0.0)) / alpha);
  last_beta_over_alpha_ = beta / alpha;
}

double LanczosBounds::eigenvalue(std::size_t index) const {
  const std::size_t n = diagonal_.size();
  if (n == 0) return 0;
  double low = diagonal_[0], high = diagonal_[0];  // Gershgorin
  for (std::size_t k = 0; k < n; ++k) {
    const double radius =
        (k > 0 ? std::abs(off_diagonal_[k - 1]) : 0) + (k + 1 < n ? std::abs(off_diagonal_[k]) : 0);
    low = std::min(low, diagonal_[k] - radius);
    high = std::max(high, diagonal_[k] + radius);
  }
  for (int step = 0; step < 80; ++step) {
    const double middle = 0.5 * (low + high);
    std::size_t below = 0;  // eigenvalues under `middle`: negative pivots of T - middle I
    double pivot = 1;
    for (std::size_t k = 0; k < n; ++k) {
      const double off = k > 0 ? off_diagonal_[k - 1] : 0;
      pivot = diagonal_[k] - middle - (k > 0 ? off * off / pivot : 0);
      if (pivot == 0) pivot = 1e-300;
      if (pivot < 0) ++below;
    }
    (below <= index ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

Array<double> random_right_hand_side(std::int64_t first_row, std::int64_t rows) {
  Array<double> b(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i)
    b[i] = to_unit(split_mix(static_cast<std::uint64_t>(first_row + i), 0)) - 0.5;
  return b;
}

void set_interval(Preconditioner& m, const LanczosBounds& bounds) {
  if (bounds.size() == 0 || !(bounds.largest() > 0))
    fail(ExitCode::input, "the Chebyshev polynomial needs a positive definite matrix and diagonal");
  m.high = 1.1 * bounds.largest();
  m.low = std::max(bounds.smallest(), m.high / 30);
  if (!(m.low < 0.99 * m.high)) m.low = 0.9 * m.high;  // D^-1 A is almost the identity
}

}  // namespace trireme::solvers
