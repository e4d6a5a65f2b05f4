// SPDX-License-Identifier: BSD-3-Clause
// Powers of two that bring a linear system to where the squares of its numbers are within double.
//
// A Krylov loop sums squares, so it underflows below 1e-154 and overflows above 1e154, although the
// system and its solution may be ordinary doubles. A power of two changes no digit: the scaled
// system (2^-m A) (2^(m-k) x) = 2^-k b has the same iterates, bit for bit.
#pragma once

#include <mpi.h>

#include <span>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/scaling/system_scaling.hpp"

namespace trireme {

// Multiplies every value of `matrix` by 2^-m and returns m: 0, and nothing is written, unless the
// largest magnitude lies outside 2^-200 .. 2^200. No nonzero value becomes subnormal.
// `none_above_usual`: no magnitude of this rank's values is above kUsualMagnitude, so that
// one value of usual size tells the answer. Collective.
int scale_matrix(DistributedMatrix& matrix, bool none_above_usual = false);

// The k for a right-hand side and its initial guess (empty: zero), where the matrix has been scaled
// by 2^-matrix_exponent. 0 where both need no scaling. Collective.
int right_hand_side_exponent(MPI_Comm comm, std::span<const double> b, std::span<const double> x0,
                             int matrix_exponent);
// The same from the largest magnitudes of b and of the guess; 0: all of them are 0.
int right_hand_side_exponent(double largest_of_b, double largest_of_guess, int matrix_exponent);

// The k by which the vectors of a scaled system, D_r b and y of x0 (empty: zero), become ordinary
// ones as they are multiplied by 2^-k: b and x0 may be such, and those far from them. Collective.
int loop_exponent(MPI_Comm comm, const SystemScaling& scaling, std::span<const double> b,
                  std::span<const double> x0);

// values * 2^exponent, which may round below the smallest normal number and overflow to infinity.
Array<double> times_power_of_two(std::span<const double> values, int exponent);

// Likewise, but without a copy where the exponent is 0. `values` must outlive this object.
class Scaled {
 public:
  Scaled(std::span<const double> values, int exponent) : values_(values) {
    if (exponent == 0) return;
    scaled_ = times_power_of_two(values, exponent);
    values_ = scaled_;
  }
  Scaled(const Scaled&) = delete;
  Scaled& operator=(const Scaled&) = delete;

  std::span<const double> values() const { return values_; }

 private:
  Array<double> scaled_;
  std::span<const double> values_;
};

}  // namespace trireme
