// SPDX-License-Identifier: BSD-3-Clause
// The preconditioners that run inside the loop, as plain data and as text for every executor.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::solvers {

// One number a row, or the same for all rows (then no array is read).
struct Diagonal {
  const double* values = nullptr;
  double constant = 1;
  TRIREME_HD double operator[](std::int64_t i) const { return values ? values[i] : constant; }
};

// The rows first .. last - 1.
struct RowGroup {
  std::int32_t first, last;
};

struct Preconditioner {
  enum class Kind : std::int32_t { pointwise, blocks, chebyshev };

  Kind kind = Kind::pointwise;
  Diagonal inverse_diagonal;  // pointwise: z = D^-1 r, fused into the passes; also for chebyshev

  // blocks: row i belongs to the rows of group[i] (null: natural blocks of block_size), and
  // inverse_blocks[i * block_size + k] is the inverse block's entry in its column k.
  const double* inverse_blocks = nullptr;
  const RowGroup* group = nullptr;
  std::int32_t block_size = 0;

  // chebyshev: `degree` products with A; the interval [low, high] holds the spectrum of D^-1 A.
  std::int32_t degree = 0;
  double low = 0, high = 0;
  double* direction = nullptr;  // work vectors
  double* product = nullptr;

  TRIREME_HD bool pointwise() const { return kind == Kind::pointwise; }
};

// z = B^-1 r for dense diagonal blocks. Reads a block of r for each row: at most block_size values,
// all but one of them from cache.
struct SolveBlocks {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const double* r;
  double* z;
  const double* inverse;
  const RowGroup* group;
  std::int64_t rows;
  std::int32_t size;

  struct Row {
    double z;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    const std::int64_t first = group ? group[i].first : i - i % size;
    const std::int64_t last = group ? group[i].last : first + size < rows ? first + size : rows;
    const double* line = inverse + i * size;
    double z_i = 0;
    for (std::int64_t k = first; k < last; ++k) z_i += line[k - first] * r[k];
    return {z_i};
  }
  TRIREME_HD void update(Row&, const State&, double*) const {}
  TRIREME_HD void store(std::int64_t i, const Row& row) const { z[i] = row.z; }
};

// Chebyshev iteration for D^-1 A z = D^-1 r from z = 0 (Saad, Iterative Methods, algorithm 12.1).
struct ChebyshevStart {  // d = D^-1 r / theta, z = d
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const double* r;
  double* z;
  double* d;
  Diagonal inverse;
  double theta;

  struct Row {
    double r, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State&, double*) const { row.r *= row.inverse / theta; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { z[i] = d[i] = row.r; }
};

struct ChebyshevStep {  // d = f d + g D^-1 (r - A z), z += d
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const double* r;
  const double* az;
  double* z;
  double* d;
  Diagonal inverse;
  double f, g;

  struct Row {
    double r, az, z, d, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {r[i], az[i], z[i], d[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State&, double*) const {
    row.d = f * row.d + g * row.inverse * (row.r - row.az);
    row.z += row.d;
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const {
    z[i] = row.z;
    d[i] = row.d;
  }
};

// z = M^-1 r for a preconditioner that is not pointwise. `rows` are this rank's.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Exec>
TRIREME_HD void precondition(Exec& e, const Preconditioner& m, const double* r, double* z) {
  if (m.kind == Preconditioner::Kind::blocks) {
    e.pass(SolveBlocks{r, z, m.inverse_blocks, m.group, e.rows(), m.block_size});
    return;
  }
  const double theta = 0.5 * (m.high + m.low);
  const double delta = 0.5 * (m.high - m.low);
  const double sigma = theta / delta;
  double rho = 1 / sigma;
  e.pass(ChebyshevStart{r, z, m.direction, m.inverse_diagonal, theta});
  for (int k = 0; k < m.degree; ++k) {
    const double next = 1 / (2 * sigma - rho);
    e.product(z, m.product);
    e.pass(ChebyshevStep{r, m.product, z, m.direction, m.inverse_diagonal, next * rho,
                         2 * next / delta});
    rho = next;
  }
}

}  // namespace trireme::solvers
