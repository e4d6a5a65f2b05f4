// SPDX-License-Identifier: BSD-3-Clause
// The settings of a cycle with which one form of it is compared with another.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "multigrid/on_ranks.hpp"

namespace trireme::multigrid::test {

// Calls check(options) for each smoother, each of the degrees 1 to `max_degree`, both cycles, and
// each precision, with small_levels().
template <class Check>
void for_smoothers_degrees_and_cycles(std::initializer_list<Smoother> smoothers, int max_degree,
                                      std::initializer_list<Precision> precisions,
                                      const Check& check) {
  for (const Smoother smoother : smoothers)
    for (int degree = 1; degree <= max_degree; ++degree)
      for (const CycleKind cycle : {CycleKind::v, CycleKind::w})
        for (const Precision precision : precisions) {
          SCOPED_TRACE(std::string(to_string(smoother)) + " " + std::to_string(degree) +
                       (cycle == CycleKind::v ? " V" : " W") +
                       (precision == Precision::full ? " FP64" : " FP32"));
          Options options = small_levels();
          options.smoother = smoother;
          options.degree = degree;
          options.cycle = cycle;
          options.precision = precision;
          check(options);
        }
}

// Calls check(options) for nodes of three unknowns, with the smoothers that treat them differently
// and in both precisions.
template <class Check>
void for_blocks_and_precisions(const Check& check) {
  for (const Smoother smoother : {Smoother::chebyshev, Smoother::block_jacobi})
    for (const Precision precision : {Precision::full, Precision::mixed}) {
      Options options = small_levels();
      options.smoother = smoother;
      options.block_size = 3;
      options.precision = precision;
      check(options);
    }
}

}  // namespace trireme::multigrid::test
