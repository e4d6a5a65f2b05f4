// SPDX-License-Identifier: BSD-3-Clause
// Exponents of the largest and smallest magnitudes over all ranks.
#include "distributed/scaling/system_scale.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sparse/usual_magnitude.hpp"

namespace trireme {
namespace {

constexpr int kFitMatrix = 200;  // |exponent| up to which entries need no scaling
constexpr int kFitVector = 100;
static_assert(kUsualMagnitude <= 0x1p200);
constexpr int kMinNormal = -1000;  // a little above the exponent of the smallest normal number

constexpr int kNoExponent = std::numeric_limits<int>::min();

// Exponents, in the sense of frexp, of the nonzero magnitudes; kNoExponent where there are none.
struct Exponents {
  int largest = kNoExponent;
  int smallest = kNoExponent;
};

Exponents exponents_of(std::span<const double> values) {
  // The bits of magnitudes are in the order of the magnitudes. Those of a zero, less one, wrap
  // around to the largest number, so that the loop has no branch.
  constexpr std::uint64_t magnitude_bits = ~(std::uint64_t{1} << 63);
  std::uint64_t largest = 0, smallest_less_one = std::numeric_limits<std::uint64_t>::max();
#pragma omp parallel for simd schedule(static) reduction(max                      \
                                                         : largest) reduction(min \
                                                                              : smallest_less_one)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(values[i]) & magnitude_bits;
    largest = std::max(largest, bits);
    smallest_less_one = std::min(smallest_less_one, bits - 1);
  }
  if (largest == 0) return {};
  Exponents found;
  std::frexp(std::bit_cast<double>(largest), &found.largest);
  std::frexp(std::bit_cast<double>(smallest_less_one + 1), &found.smallest);
  return found;
}

// The extremes of several arrays on all ranks. Collective.
Exponents over_ranks(MPI_Comm comm, std::initializer_list<Exponents> parts) {
  int extremes[2] = {kNoExponent, kNoExponent};  // the largest, and the negated smallest
  for (const Exponents& part : parts) {
    if (part.largest == kNoExponent) continue;
    extremes[0] = std::max(extremes[0], part.largest);
    extremes[1] = std::max(extremes[1], -part.smallest);
  }
  MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT, MPI_MAX, comm);
  if (extremes[0] == kNoExponent) return {};
  return {extremes[0], -extremes[1]};
}

void scale(std::span<double> values, int exponent) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::ldexp(values[i], exponent);
}

int exponent_for(int of_b, int of_guess, int matrix_exponent) {
  // The entries of the scaled matrix are near 1, so that A x0 has the size of 2^m x0.
  const int of_product = of_guess == kNoExponent ? kNoExponent : of_guess + matrix_exponent;
  const int largest = std::max(of_b, of_product);
  return largest == kNoExponent || std::abs(largest) <= kFitVector ? 0 : largest;
}

// Whether no value of any rank is above kUsualMagnitude, and one is no less than its inverse.
// Collective.
bool values_are_usual(const DistributedMatrix& matrix, bool none_above_usual) {
  const auto usual = [](double value) { return std::abs(value) >= 1 / kUsualMagnitude; };
  const SplitRows& blocks = matrix.blocks;
  int facts[2] = {none_above_usual ? 0 : 1, 0};
  if (none_above_usual && (std::ranges::any_of(blocks.local.values, usual) ||
                           std::ranges::any_of(blocks.ghost.values, usual)))
    facts[1] = 1;
  MPI_Allreduce(MPI_IN_PLACE, facts, 2, MPI_INT, MPI_MAX, matrix.comm);
  return facts[0] == 0 && facts[1] == 1;
}

}  // namespace

int scale_matrix(DistributedMatrix& matrix, bool none_above_usual) {
  if (values_are_usual(matrix, none_above_usual)) return 0;
  Array<double>& local = matrix.blocks.local.values;
  Array<double>& ghost = matrix.blocks.ghost.values;
  const Exponents found = over_ranks(matrix.comm, {exponents_of(local), exponents_of(ghost)});
  if (found.largest == kNoExponent || std::abs(found.largest) <= kFitMatrix) return 0;
  const int exponent = std::min(found.largest, std::max(found.smallest - kMinNormal, 0));
  if (exponent == 0) return 0;
  scale(local, -exponent);
  scale(ghost, -exponent);
  ++matrix.values_version;
  return exponent;
}

int right_hand_side_exponent(MPI_Comm comm, std::span<const double> b, std::span<const double> x0,
                             int matrix_exponent) {
  const int of_b = over_ranks(comm, {exponents_of(b)}).largest;
  const int of_guess = over_ranks(comm, {exponents_of(x0)}).largest;
  return exponent_for(of_b, of_guess, matrix_exponent);
}

int right_hand_side_exponent(double largest_of_b, double largest_of_guess, int matrix_exponent) {
  const auto exponent = [](double largest) {
    return largest > 0 ? std::ilogb(largest) + 1 : kNoExponent;
  };
  return exponent_for(exponent(largest_of_b), exponent(largest_of_guess), matrix_exponent);
}

int loop_exponent(MPI_Comm comm, const SystemScaling& scaling, std::span<const double> b,
                  std::span<const double> x0) {
  int largest = kNoExponent;
  const auto look = [&](std::span<const double> values, std::span<const std::int32_t> exponents,
                        int sign) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0)
        largest = std::max(largest, std::ilogb(values[i]) + 1 + sign * exponents[i]);
  };
  look(b, scaling.rows, 1);
  look(x0, scaling.columns, -1);
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT, MPI_MAX, comm);
  return largest == kNoExponent || std::abs(largest) <= kFitVector ? 0 : largest;
}

Array<double> times_power_of_two(std::span<const double> values, int exponent) {
  Array<double> scaled(values.begin(), values.end());
  if (exponent != 0) scale(scaled, exponent);
  return scaled;
}

}  // namespace trireme
