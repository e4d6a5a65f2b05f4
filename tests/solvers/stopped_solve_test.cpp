// SPDX-License-Identifier: BSD-3-Clause
// A solve goes on only with directions that belong to its system.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "solvers/host_solver.hpp"

namespace trireme::solvers {
namespace {

StoppedSolve of(std::vector<Array<double>> directions) {
  StoppedSolve stopped;
  stopped.directions = std::move(directions);
  return stopped;
}

TEST(StoppedSolve, TakesDirectionsOfTheSystemsRows) {
  EXPECT_NO_THROW(require_directions(of({Array<double>(5)}), 1, 5));
  EXPECT_NO_THROW(require_directions(of({Array<double>(5), Array<double>(5)}), 2, 5));
  EXPECT_NO_THROW(require_directions(of({Array<double>(), Array<double>()}), 2, 0));
}

TEST(StoppedSolve, RefusesDirectionsOfAnotherSystem) {
  EXPECT_THROW(require_directions(of({Array<double>(5)}), 2, 5), Error);
  EXPECT_THROW(require_directions(of({Array<double>(5), Array<double>(4)}), 2, 5), Error);
  EXPECT_THROW(require_directions(of({Array<double>(6), Array<double>(5)}), 2, 5), Error);
}

}  // namespace
}  // namespace trireme::solvers
