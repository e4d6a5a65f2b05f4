// SPDX-License-Identifier: BSD-3-Clause
// GMRES(m) (Saad and Schultz, SIAM J. Sci. Stat. Comput. 7, 1986), preconditioned from the right:
// the iterate of each step has the smallest residual of all that its Krylov space allows, and after
// m steps a new space begins at b - A x.
//
// The basis of the space of A M^-1 is made orthonormal by classical Gram-Schmidt, whose products
// need one point of global sums. A second orthogonalisation follows where digits cancel (Daniel,
// Gragg, Kaufman and Stewart, Math. Comp. 30, 1976). The inner product is that of the norm which is
// tested, with row weights where the rule has them, so that the recurrence's norm is that norm.
//
// x is formed at the end of a cycle only, as x + M^-1 (V y): M is applied once more per cycle,
// where a flexible GMRES would keep m vectors M^-1 v_j. Every preconditioner here is the same
// operator in all iterations, which this needs.
//
// Where the products are inexact, the basis is stored in FP32 (Aliaga, Anzt, Gruetzmacher,
// Quintana-Orti and Tomas, Compressed basis GMRES on high-performance graphics processing units,
// Int. J. High Perform. Comput. Appl. 37, 2022): each v is rounded before A^ is applied to it, and
// all sums, H and x are FP64. Rounding limits what one cycle can gain, to about seven digits less
// those that the condition takes; the next cycle begins at b - A x in FP64, so that it does not
// limit x. A cycle that rounding has left with nearly nothing ends the mixed precision.
//
// Values moved per iteration beside the product (n: rows, j: vectors of the basis): on the host
// 2.4 j n + 6n with Jacobi (of FP32 half of the first part), and as much again where the second
// orthogonalisation is due. An iteration has one point where sums must be complete, or two. On
// GPUs, which add few sums at once, it has one per twelve vectors, and the passes of the second
// orthogonalisation are launched in any case.
#pragma once

#include <array>
#include <type_traits>

#include "solvers/methods/gmres_basis.hpp"

namespace trireme::solvers {

struct Gmres : SystemVectors {
  static constexpr MethodInfo info{.name = "gmres",
                                   .petsc_name = "gmres",
                                   .matrices = "any square",
                                   .right_preconditioned = true,
                                   .restarts = true};
  static constexpr Variant variant = Variant::classic;
  static constexpr int vectors = 3;
  static constexpr int pointwise_vectors = 2;
  static constexpr int scalars = kGmresScalars;
  static constexpr std::array<int, 0> directions{};
  static constexpr std::array<int, 0> left_behind{};
  static constexpr std::int64_t small_elements(int length) { return CycleArrays::elements(length); }

  double* first;          // of the work vectors with the basis
  std::int64_t distance;  // between them
  double* z;              // M^-1 v
  double* w;              // A M^-1 v, and what the basis leaves of it
  double* v;              // the last vector of the basis, where M is not pointwise

  template <class Work>
  TRIREME_HD static Gmres with(const SystemVectors& from, const Work& work) {
    const int m = vectors_of_cycle(from.cycle.length, from.cycle.in_fp32);
    Gmres method{from, work(0), work(1) - work(0), work(m), work(m + 1), work(m + 2)};
    RowWeights& rows = method.norm.rows;  // D^-1 serves as any array does
    if (rows.from == RowWeights::From::jacobi) rows.from = RowWeights::From::array;
    return method;
  }
  const double* lagging_direction() const { return nullptr; }
  TRIREME_HD double* product_vector() const { return w; }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void reference_norm(Exec& e, const M&) const {
    e.pass(CycleResidual{b, nullptr, w, norm});
    e.finish(SetCycleReference{});
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void start(Exec& e, const M& m, bool x_is_zero) const {
    begin_cycle<Entry::begin>(e, m, x_is_zero);
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void go_on(Exec& e, const M& m) const {
    begin_cycle<Entry::go_on>(e, m, false);
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void iteration(Exec& e, const M& m) const {
    if constexpr (!M::pointwise) m.apply(e, v, z);
    e.product(z, w);
    orthogonalise<false>(e);
    const auto due = [](const State& s) { return live(s) && second_time(s); };
    bool second = true;
    if constexpr (Exec::state_access != StateAccess::none) second = e.some(due);
    if (second) orthogonalise<true>(e);
    next_vector(e, m);
  }

  // A new cycle replaces the residual.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void correct(Exec&, const M&) const {}

  // Completes x where a cycle has ended: x += M^-1 (V y).
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void end_cycles(Exec& e, const M& m) const {
    const auto ended = [](const State& s) { return !running(s) && finished_columns(s) > 0; };
    if (!e.choose_if(ended)) return;
    e.finish(BackSubstitute{cycle});
    const int count = in_use(e, [](const State& s) { return vectors_in_use(s); });
    by_storage(e, [&](const auto& basis) {
      using Basis = std::decay_t<decltype(basis)>;
      in_groups<Exec>(0, count, [&](auto width, int at) {
        e.pass(AddBasis<width.value, Exec::state_access, Basis>{
            basis, at, M::pointwise ? x : v, !M::pointwise, pointwise_part(m), cycle});
      });
    });
    if constexpr (!M::pointwise) {
      m.apply(e, v, z);
      e.pass(AddToSolution{x, z});
    }
  }

  // The next solve begins a cycle at x.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void leave_direction(Exec&, const M&) const {}

 private:
  TRIREME_RUNS_EXECUTOR
  template <Entry entry, class Exec, class M>
  TRIREME_HD void begin_cycle(Exec& e, const M& m, bool x_is_zero) const {
    if (!x_is_zero) e.exact_product(x, w);
    e.pass(CycleResidual{b, x_is_zero ? nullptr : w, w, norm}, GmresEnter<entry>{cycle});
    next_vector(e, m);
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class M>
  TRIREME_HD void next_vector(Exec& e, const M& m) const {
    by_storage(e, [&](const auto& basis) {
      e.pass(NextBasisVector<std::decay_t<decltype(basis)>>{basis, w, M::pointwise ? z : v,
                                                            pointwise_part(m)});
    });
  }

  // Calls visit(basis).
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class Visit>
  TRIREME_HD void by_storage(Exec&, const Visit& visit) const {
    if (cycle.in_fp32)
      visit(HalfBasis{reinterpret_cast<HalfBasis::Pair*>(first), distance});
    else
      visit(FullBasis{first, distance});
  }

  // The largest number that a state has, or the largest that any could have.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, class Number>
  TRIREME_HD int in_use(Exec& e, const Number& number) const {
    if constexpr (Exec::state_access != StateAccess::none)
      return e.most(number);
    else
      return cycle.length;
  }

  // Calls visit(width, k) for the groups of the vectors from `first` to `end` - 1 of the basis, as
  // wide as a pass may be. Where only vectors in use may be read, the last groups are narrower.
  TRIREME_RUNS_EXECUTOR
  template <class Exec, int width = Exec::sums_per_pass, class Visit>
  TRIREME_HD static void in_groups(int first, int end, const Visit& visit) {
    constexpr bool exactly = Exec::state_access != StateAccess::none && width > 1;
    int least = 1;
    if constexpr (exactly) least = width;
    while (first + least <= end) {
      visit(std::integral_constant<int, width>(), first);
      first += width;
    }
    if constexpr (exactly) in_groups<Exec, width / 2>(first, end, visit);
  }

  // Takes from w its part in the span of the basis.
  TRIREME_RUNS_EXECUTOR
  template <bool second, class Exec>
  TRIREME_HD void orthogonalise(Exec& e) const {
    constexpr StateAccess access = Exec::state_access;
    const int count = in_use(
        e, [](const State& s) { return second ? vectors_in_use(s) : finished_columns(s) + 1; });
    by_storage(e, [&](const auto& basis) {
      using Basis = std::decay_t<decltype(basis)>;
      by_weights(e, norm, [&](auto weighed) { dots<second, weighed.value>(e, basis, count); });
      in_groups<Exec>(0, count, [&](auto width, int at) {
        e.pass(SubtractBasis<second, width.value, access, Basis>{basis, at, w, cycle});
      });
    });
  }

  // The products of w with `count` vectors of the basis and with itself, and the step from them.
  TRIREME_RUNS_EXECUTOR
  template <bool second, bool weighed, class Exec, class Basis>
  TRIREME_HD void dots(Exec& e, const Basis& basis, int count) const {
    constexpr StateAccess access = Exec::state_access;
    const auto of_group = [&](auto width, int at) {
      e.pass(BasisDots<second, width.value, access, weighed, Basis>{basis, at, w, norm});
    };
    int at = 0;
    if constexpr (access == StateAccess::none) {
      // As many passes may come before a step of a CUDA graph as it has pending sums for.
      constexpr int width = Exec::sums_per_pass;
      for (; count - at > 2 * width; at += 3 * width) {
        in_groups<Exec>(at, at + 3 * width, of_group);
        e.finish(KeepDots<second>{cycle, at, 3 * width});
      }
    }
    in_groups<Exec>(at, count, of_group);
    e.pass(SquareOfImage<second, access, weighed>{w, norm},
           Orthogonalise<second>{cycle, at, sums_of<Exec>(count - at)});
  }

  // The sums of the groups of so many vectors.
  template <class Exec>
  TRIREME_HD static int sums_of(int vectors) {
    constexpr int width = Exec::sums_per_pass;
    if (Exec::state_access != StateAccess::none) return vectors;
    return (vectors + width - 1) / width * width;
  }
};

}  // namespace trireme::solvers
