// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of pivots on the lower triangle (Goodnight, A tutorial on the SWEEP operator, The American
// Statistician 33, 1979), of which some are collected before the triangle takes them at once.
//
// A sweep of pivot k with the column c = A e_k makes
//
//   a_ij - c_i c_j / c_k  for i, j != k,   c_i / c_k  for j = k != i,   -1 / c_k  for i = j = k
//
// which is A - w w^T / c_k, where row k and column k of A are 0, and w is c with w_k = -1.
#include "multigrid/set_up/semidefinite_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "multigrid/set_up/host_place.hpp"

// The program chooses among the copies when it starts. The address sanitizer is not ready by then.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TRIREME_COPIES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TRIREME_COPIES
#endif

namespace trireme::multigrid {
namespace {

constexpr std::int64_t kHeight = 4, kWidth = 8;  // of a tile
constexpr std::int64_t kCollected = 16;          // sweeps

// A -= f w for the kHeight rows of A that begin at `a`, and the columns before `end`. Row t of w,
// of `stride` numbers like those of A, belongs to the kHeight numbers at f + kHeight t.
TRIREME_COPIES void subtract_product(double* __restrict a, const double* __restrict f,
                                     const double* __restrict w, std::int64_t stride,
                                     std::int64_t count, std::int64_t end) {
  for (std::int64_t j = 0; j < end; j += kWidth) {
    double tile[kHeight][kWidth] = {};
    for (std::int64_t t = 0; t < count; ++t)
      for (int r = 0; r < kHeight; ++r)
#pragma omp simd
        for (int c = 0; c < kWidth; ++c) tile[r][c] += f[t * kHeight + r] * w[t * stride + j + c];
    for (int r = 0; r < kHeight; ++r)
#pragma omp simd
      for (int c = 0; c < kWidth; ++c) a[r * stride + j + c] -= tile[r][c];
  }
}

std::int64_t whole_tiles(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size * size;
}

class Sweeps {
 public:
  explicit Sweeps(Elimination& m)
      : n_(m.n),
        stride_(whole_tiles(m.n, kWidth)),
        a_(whole_tiles(m.n, kHeight) * stride_, 0.0),
        w_(kCollected * stride_, 0.0),
        diagonal_(m.n),
        swept_(m.n, 0) {
    for (std::int64_t i = 0; i < n_; ++i) {
      std::copy_n(m.row(i), i + 1, &a_[i * stride_]);
      diagonal_[i] = m.row(i)[i];
    }
  }

  // False: the matrix is not positive semidefinite.
  bool run() {
    const std::int64_t first = next_pivot();
    least_ = first < 0 ? 0 : diagonal_[first] * kZeroPivot * static_cast<double>(n_);
    for (bool more = true; more;) {
      more = collect();
      take_collected();
    }
    return rest_is_zero();
  }

  // Writes the result in the order of its pivots, with the rows behind that have none.
  void write(Elimination& m) {
    m.rank = std::ssize(order_);
    for (std::int64_t i = 0; i < n_; ++i)
      if (!swept_[i]) order_.push_back(i);
    m.rows = m.cols = order_;
    HostPlace::for_each_heavy(n_, n_, [&](std::int64_t p) {
      for (std::int64_t q = 0; q < n_; ++q) {
        const double value = at(order_[p], order_[q]);
        m.row(p)[q] = q < m.rank ? -value : value;
      }
    });
  }

 private:
  double& at(std::int64_t i, std::int64_t j) {
    return i >= j ? a_[i * stride_ + j] : a_[j * stride_ + i];
  }

  std::int64_t next_pivot() const {
    std::int64_t pivot = -1;
    for (std::int64_t i = 0; i < n_; ++i)
      if (!swept_[i] && (pivot < 0 || diagonal_[i] > diagonal_[pivot])) pivot = i;
    return pivot;
  }

  // Column k after the sweeps that have been collected.
  void read_column(std::int64_t k, double* c) {
    for (std::int64_t i = 0; i < n_; ++i) c[i] = at(i, k);
    for (std::int64_t t = 0; t < collected_; ++t) {
      const double* const w = &w_[t * stride_];
      const double factor = w[k] * inverse_[t];
      for (std::int64_t i = 0; i < n_; ++i) c[i] -= factor * w[i];
    }
  }

  // Sweeps until there are kCollected of them. False: no pivot is left.
  bool collect() {
    for (collected_ = 0; collected_ < kCollected; ++collected_) {
      const std::int64_t k = next_pivot();
      if (k < 0 || !(diagonal_[k] > least_)) return false;
      double* const c = &w_[collected_ * stride_];
      read_column(k, c);
      if (!(c[k] > least_)) return false;
      inverse_[collected_] = 1 / c[k];
      for (std::int64_t t = 0; t < collected_; ++t) w_[t * stride_ + k] = 0;
      for (std::int64_t i = 0; i < n_; ++i) at(i, k) = 0;
      for (std::int64_t i = 0; i < n_; ++i)
        if (!swept_[i]) diagonal_[i] -= c[i] * c[i] * inverse_[collected_];
      c[k] = -1;
      swept_[k] = 1;
      order_.push_back(k);
    }
    return true;
  }

  void take_collected() {
    const std::int64_t strips = whole_tiles(n_, kHeight) / kHeight;
    HostPlace::for_each_heavy(strips, kHeight * n_, [&](std::int64_t turn) {
      // Long and short strips in turns, so that threads have as much to do.
      const std::int64_t strip = turn % 2 == 0 ? turn / 2 : strips - 1 - turn / 2;
      const std::int64_t first = strip * kHeight;
      double f[kCollected * kHeight] = {};
      for (std::int64_t t = 0; t < collected_; ++t)
        for (std::int64_t r = 0; r < std::min(kHeight, n_ - first); ++r)
          f[t * kHeight + r] = w_[t * stride_ + first + r] * inverse_[t];
      subtract_product(&a_[first * stride_], f, w_.data(), stride_, collected_,
                       whole_tiles(first + kHeight, kWidth));
    });
  }

  bool rest_is_zero() {
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        if (!swept_[i] && !swept_[j] && !(std::abs(at(i, j)) <= least_)) return false;
    return true;
  }

  std::int64_t n_, stride_;
  Array<double> a_;  // whole tiles; only the lower triangle is used
  Array<double> w_;  // of the sweeps that are collected
  double inverse_[kCollected] = {};
  std::int64_t collected_ = 0;
  std::vector<double> diagonal_;
  std::vector<char> swept_;
  std::vector<std::int64_t> order_;
  double least_ = 0;  // a smaller pivot counts as 0
};

}  // namespace

bool eliminate_semidefinite(Elimination& elimination) {
  Sweeps sweeps(elimination);
  if (!sweeps.run()) return false;
  sweeps.write(elimination);
  return true;
}

}  // namespace trireme::multigrid
