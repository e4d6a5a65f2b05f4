// SPDX-License-Identifier: BSD-3-Clause
// The passes of GMRES over its basis. A pass works on `width` neighbouring vectors of the basis, so
// that the groups of a basis need one after the other. A group of several vectors begins with one
// of an even number.
//
// The basis is a FullBasis or, in mixed precision, a HalfBasis:
//
//   FullBasis   work vector 0   v_0[0]        | v_0[1]        | v_0[2] ...     FP64
//   HalfBasis   work vector 0   v_0[0] v_1[0] | v_0[1] v_1[1] | v_0[2] ...     FP32
//
// so that executors move the elements of both as they move any other vector's.
//
// `access` says how the executor knows which vectors are in use:
//   one   a group has such vectors only
//   many  some column uses each vector of a group. The numbers of other columns do not count, and
//         may be anything
//   none  a group may have no such vector, and does nothing then, for which update() itself reads
//         and writes
#pragma once

#include "solvers/methods/gmres_scalars.hpp"

namespace trireme::solvers {

// Work vectors at equal distances, each of which is a vector of the basis.
struct FullBasis {
  double* first;
  std::int64_t distance;

  // Element i of vector first_of_group + k.
  template <int width>
  TRIREME_HD double get(int first_of_group, int k, std::int64_t i) const {
    return first[(first_of_group + k) * distance + i];
  }
  // Returns the number as it is stored.
  TRIREME_HD double set(int k, std::int64_t i, double value) const {
    return first[k * distance + i] = value;
  }
};

// Work vectors at equal distances, each of which has two vectors of the basis.
struct HalfBasis {
  struct [[gnu::may_alias]] alignas(double) Pair {
    float of[2];
  };
  Pair* first;
  std::int64_t distance;

  template <int width>
  TRIREME_HD double get(int first_of_group, int k, std::int64_t i) const {
    const int half = width == 1 ? first_of_group & 1 : k & 1;
    return first[(first_of_group / 2 + k / 2) * distance + i].of[half];
  }
  TRIREME_HD double set(int k, std::int64_t i, double value) const {
    return first[k / 2 * distance + i].of[k & 1] = static_cast<float>(value);
  }
};

// What a number adds to the inner product in which the basis is orthonormal, over the other number:
// the norm of this product is the one that is tested.
template <bool weighed>
TRIREME_HD double weighted(double value, const LoopWeight<weighed>& row, const State& s) {
  if constexpr (weighed)
    return (s.plain_part + (s.other_part * row.weight) * row.weight) * value;
  else
    return value;
}

// w = b - q (q null: w = b); sums {norm term}.
struct CycleResidual {
  static constexpr int sums = 1;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  double* w;
  NormTerm norm;

  struct Row {
    double r, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {q ? b[i] - q[i] : b[i], norm.rows[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    sum[0] += norm(row.r, 0, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { w[i] = row.r; }
};

// Element i of vector k of the group that begins at `first`; of a vector that is not among the
// `count` in use, a finite number.
template <StateAccess access, int width, class Basis>
TRIREME_HD double element(const Basis& basis, int first, int k, int count, std::int64_t i) {
  if constexpr (access == StateAccess::one) {
    return basis.template get<width>(first, k, i);
  } else if constexpr (access == StateAccess::many) {
    const double value = basis.template get<width>(first, k, i);
    return first + k < count ? value : 0;
  } else {
    const bool in_use = first + k < count;
    return basis.template get<width>(in_use ? first : 0, in_use ? k : 0, i);
  }
}

// Sums {v_first.w, v_first+1.w, ...}.
template <bool second, int width, StateAccess access, bool weighed, class Basis>
struct BasisDots {
  static constexpr int sums = width;
  static constexpr bool always = false;
  Basis basis;
  int first;
  const double* w;
  NormTerm norm;

  struct Row {
    std::int64_t i;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {i, LoopWeight<weighed>::of(norm, i)}; }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    const int count = second ? vectors_in_use(s) : finished_columns(s) + 1;
    if constexpr (access == StateAccess::none)
      if (first >= count || (second && !second_time(s))) return;
    const double term = weighted(w[row.i], row.weight, s);
    for (int k = 0; k < width; ++k)
      sum[k] += element<access, width>(basis, first, k, count, row.i) * term;
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// Sums {w.w}.
template <bool second, StateAccess access, bool weighed>
struct SquareOfImage {
  static constexpr int sums = 1;
  static constexpr bool always = false;
  const double* w;
  NormTerm norm;

  struct Row {
    std::int64_t i;
    LoopWeight<weighed> weight;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {i, LoopWeight<weighed>::of(norm, i)}; }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    if constexpr (access == StateAccess::none && second)
      if (!second_time(s)) return;
    const double value = w[row.i];
    sum[0] += value * weighted(value, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// w -= h_first v_first + ..., where h are the last dots.
template <bool second, int width, StateAccess access, class Basis>
struct SubtractBasis {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  Basis basis;
  int first;
  double* w;
  CycleWork work;

  struct Row {
    std::int64_t i;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {i}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    const int count = vectors_in_use(s);
    if constexpr (access == StateAccess::none)
      if (first >= count) return;
    if constexpr (second && access != StateAccess::one)
      if (!second_time(s)) return;
    const double* const dots = CycleArrays::of(work, s).dots + first;
    double rest = w[row.i];
    for (int k = 0; k < width; ++k) {
      const double dot = access == StateAccess::one || first + k < count ? dots[k] : 0;
      rest -= dot * element<access, width>(basis, first, k, count, row.i);
    }
    w[row.i] = rest;
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// v = w / its norm as the basis stores it; `out` is D^-1 v, or v where M is not pointwise.
template <class Basis>
struct NextBasisVector {
  static constexpr int sums = 0;
  static constexpr bool always = false;
  Basis basis;
  const double* w;
  double* out;
  Diagonal inverse;

  struct Row {
    std::int64_t i;
    double v, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {i, w[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    row.v = basis.set(vectors_in_use(s), row.i, row.v / next_norm(s));
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { out[i] = row.inverse * row.v; }
};

// into += D^-1 (y_first v_first + ...); with `anew`, the first group begins from 0.
template <int width, StateAccess access, class Basis>
struct AddBasis {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  Basis basis;
  int first;
  double* into;
  bool anew;
  Diagonal inverse;
  CycleWork work;

  struct Row {
    std::int64_t i;
    double into, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const {
    return {i, anew && first == 0 ? 0 : into[i], inverse[i]};
  }
  TRIREME_HD void update(Row& row, const State& s, double*) const {
    const int count = vectors_in_use(s);
    if constexpr (access == StateAccess::none)
      if (first >= count) return;
    const double* const y = CycleArrays::of(work, s).y + first;
    // One vector after another, so that a column has the same bits however the groups are cut.
    for (int k = 0; k < width; ++k) {
      const double factor = access == StateAccess::one || first + k < count ? y[k] : 0;
      row.into += row.inverse * (factor * element<access, width>(basis, first, k, count, row.i));
    }
  }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { into[i] = row.into; }
};

// x += z
struct AddToSolution {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  double* x;
  const double* z;

  struct Row {
    double x, z;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {x[i], z[i]}; }
  TRIREME_HD void update(Row& row, const State&, double*) const { row.x += row.z; }
  TRIREME_HD void store(std::int64_t i, const Row& row) const { x[i] = row.x; }
};

}  // namespace trireme::solvers
