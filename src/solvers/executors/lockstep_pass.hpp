// SPDX-License-Identifier: BSD-3-Clause
// A pass of a method's algorithm over many columns at once.
//
// Columns lie side by side, so that the pass runs along each row with the scalars of one column per
// lane. Lanes do not mix: a column's operations, and the order in which its sums are added, do not
// depend on the columns beside it.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solvers/executors/lockstep_block.hpp"
#include "solvers/methods/method.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"
#include "solvers/preconditioners/diagonal.hpp"

namespace trireme::solvers {

// Neighbouring columns that take part in a pass.
struct LaneGroup {
  std::int32_t first, lanes;  // 8, 4 or 1 lanes
};

// The scalars that passes read (alpha, beta, rho, the parts of the norm, State::column and
// State::scalar) of all columns. The values of each scalar lie side by side.
class LaneScalars {
 public:
  void gather(std::span<const LockstepColumn> columns) {
    width_ = std::ssize(columns);
    values_.resize(static_cast<std::size_t>(width_ * (kMaxScalars + kNamed)));
    for (std::int64_t j = 0; j < width_; ++j) {
      const State& s = columns[j].state;
      double* to = values_.data() + j;
      for (const double value : {s.alpha, s.beta, s.rho, s.plain_part, s.other_part})
        *std::exchange(to, to + width_) = value;
      *std::exchange(to, to + width_) = s.column;
      for (const double value : s.scalar) *std::exchange(to, to + width_) = value;
    }
  }
  // A state with the scalars of one column; its other members are unset.
  State of(std::int64_t column) const {
    return of(column, std::make_index_sequence<kMaxScalars>());
  }

 private:
  static constexpr std::int64_t kNamed = 6;

  template <std::size_t... Index>
  State of(std::int64_t column, std::index_sequence<Index...>) const {
    const double* from = values_.data() + column;
    State s;
    s.alpha = from[0];
    s.beta = from[width_];
    s.rho = from[2 * width_];
    s.plain_part = from[3 * width_];
    s.other_part = from[4 * width_];
    s.column = static_cast<std::int32_t>(from[5 * width_]);
    ((s.scalar[Index] = from[(kNamed + static_cast<std::int64_t>(Index)) * width_]), ...);
    return s;
  }

  std::int64_t width_ = 0;
  std::vector<double> values_;
};

// One element, which is of `column`. sums[k * width + column] is sum k of the column.
template <class Pass>
inline void run_element(const Pass& pass, const LaneScalars& scalars, std::int64_t element,
                        std::int64_t column, std::int64_t width, double* sums) {
  double sum[Pass::sums + 1] = {};
  for (int k = 0; k < Pass::sums; ++k) sum[k] = sums[k * width + column];
  typename Pass::Row row = pass.load(element);
  pass.update(row, scalars.of(column), sum);
  pass.store(element, row);
  for (int k = 0; k < Pass::sums; ++k) sums[k * width + column] = sum[k];
}

// Neighbouring elements of one row. The body of the loop is a function, so that the compiler keeps
// its variables in registers.
template <int lanes, class Pass>
inline void run_lanes(const Pass& pass, const LaneScalars& scalars, std::int64_t element,
                      std::int64_t column, std::int64_t width, double* sums) {
#pragma omp simd
  for (int lane = 0; lane < lanes; ++lane)
    run_element(pass, scalars, element + lane, column + lane, width, sums);
}

// Whether a pass reads a diagonal, which has one number per row. The member must be called
// `inverse`.
template <class Pass>
concept ReadsDiagonal = requires(Pass pass) {
  requires std::same_as<decltype(pass.inverse), Diagonal> ||
      std::same_as<decltype(pass.inverse), DiagonalOf<float>>;
};

// Whether a pass sums a norm, which may have one number per row too. The member must be called
// `norm`.
template <class Pass>
concept SumsNorm = requires(Pass pass) {
  { pass.norm } -> std::same_as<NormTerm&>;
};

// A copy of a pass for the elements of one row.
template <class Pass>
TRIREME_HD Pass pass_of_row(Pass pass, std::int64_t row) {
  if constexpr (ReadsDiagonal<Pass>) pass.inverse = {nullptr, pass.inverse[row]};
  if constexpr (SumsNorm<Pass>) pass.norm.rows.inverse_sizes = {nullptr, pass.norm.rows[row]};
  return pass;
}

// Runs a pass over the rows first .. last - 1 of the columns in `groups`, and adds to `sums`.
template <class Pass>
void run_rows(const Pass& pass, const LaneScalars& scalars, std::span<const LaneGroup> groups,
              std::int64_t width, std::int64_t first, std::int64_t last, double* sums) {
  for (std::int64_t i = first; i < last; ++i) {
    const Pass of_row = pass_of_row(pass, i);
    for (const LaneGroup& group : groups) {
      const std::int64_t element = i * width + group.first;
      if (group.lanes == 8)
        run_lanes<8>(of_row, scalars, element, group.first, width, sums);
      else if (group.lanes == 4)
        run_lanes<4>(of_row, scalars, element, group.first, width, sums);
      else
        run_lanes<1>(of_row, scalars, element, group.first, width, sums);
    }
  }
}

// z = B^-1 r for the lanes of one row.
template <int lanes>
inline void solve_block(const SolveBlocks& pass, std::int64_t row, std::int64_t column,
                        std::int64_t width) {
  const std::int64_t first = pass.first_row(row), last = pass.end_row(row);
  const double* const line = pass.inverse + row * pass.size;
  double z[lanes] = {};
  for (std::int64_t k = first; k < last; ++k) {
    const double* const r = pass.r + k * width + column;
    for (int lane = 0; lane < lanes; ++lane) z[lane] += line[k - first] * r[lane];
  }
  for (int lane = 0; lane < lanes; ++lane) pass.z[row * width + column + lane] = z[lane];
}

// The pass of block Jacobi reads other rows than the one that it stores, and finds its block by the
// number of the row.
inline void run_rows(const SolveBlocks& pass, const LaneScalars&, std::span<const LaneGroup> groups,
                     std::int64_t width, std::int64_t first, std::int64_t last, double*) {
  for (std::int64_t i = first; i < last; ++i)
    for (const LaneGroup& group : groups) {
      if (group.lanes == 8)
        solve_block<8>(pass, i, group.first, width);
      else if (group.lanes == 4)
        solve_block<4>(pass, i, group.first, width);
      else
        solve_block<1>(pass, i, group.first, width);
    }
}

// run_rows() compiled for the widest SIMD instructions that this machine has. All targets give the
// same bits, as long as the compiler does not fuse a product and a sum (-ffp-contract=off).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
template <class Pass>
[[gnu::target("avx2"), gnu::flatten]] void run_rows_avx2(const Pass& pass,
                                                         const LaneScalars& scalars,
                                                         std::span<const LaneGroup> groups,
                                                         std::int64_t width, std::int64_t first,
                                                         std::int64_t last, double* sums) {
  run_rows(pass, scalars, groups, width, first, last, sums);
}
template <class Pass>
[[gnu::target("avx512f,avx512vl,avx512dq"), gnu::flatten]] void run_rows_avx512(
    const Pass& pass, const LaneScalars& scalars, std::span<const LaneGroup> groups,
    std::int64_t width, std::int64_t first, std::int64_t last, double* sums) {
  run_rows(pass, scalars, groups, width, first, last, sums);
}
template <class Pass>
void run_rows_simd(const Pass& pass, const LaneScalars& scalars, std::span<const LaneGroup> groups,
                   std::int64_t width, std::int64_t first, std::int64_t last, double* sums) {
  static const bool avx512 = __builtin_cpu_supports("avx512f") &&
                             __builtin_cpu_supports("avx512vl") &&
                             __builtin_cpu_supports("avx512dq");
  static const bool avx2 = __builtin_cpu_supports("avx2");
  const auto run = avx512 ? run_rows_avx512<Pass> : avx2 ? run_rows_avx2<Pass> : nullptr;
  if (run)
    run(pass, scalars, groups, width, first, last, sums);
  else
    run_rows(pass, scalars, groups, width, first, last, sums);
}
#else
template <class Pass>
void run_rows_simd(const Pass& pass, const LaneScalars& scalars, std::span<const LaneGroup> groups,
                   std::int64_t width, std::int64_t first, std::int64_t last, double* sums) {
  run_rows(pass, scalars, groups, width, first, last, sums);
}
#endif

}  // namespace trireme::solvers
