// SPDX-License-Identifier: BSD-3-Clause
// The fixture of the tests of the resident CG. Each test runs once per variant.
#pragma once

#include <gtest/gtest.h>

#include "solvers/solves.hpp"

namespace trireme::solvers {

class ResidentCg : public testing::TestWithParam<Variant> {
 protected:
  test::Options options() const {
    test::Options o;
    o.variant = GetParam();
    return o;
  }
};

}  // namespace trireme::solvers
