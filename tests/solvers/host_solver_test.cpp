// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on the host, with every kernel, and with a system of no rows.
#include <gtest/gtest.h>

#include "solvers/solves.hpp"

namespace trireme::solvers {
namespace {

using namespace test;

TEST(ResidentEngine, SolvesWithEveryKernel) {
  const CsrMatrix<double> a = grid_matrix(35, 0, 10);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.host_double) continue;
    for (const Method method : {Method::cg, Method::bicgstab}) {
      Options o;
      o.method = method;
      o.kernel = entry.name;
      o.preconditioner = jacobi(d);
      const Solved solved = solve(a, b, o);
      EXPECT_EQ(solved.outcome.reason, Reason::rtol) << entry.name;
      EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8) << entry.name;
    }
  }
}

TEST(ResidentEngine, EmptySystemIsConverged) {
  const CsrMatrix<double> a;
  for (const Method method : {Method::cg, Method::bicgstab}) {
    Options o;
    o.method = method;
    EXPECT_EQ(solve(a, Array<double>{}, o).outcome.reason, Reason::atol);
  }
}

}  // namespace
}  // namespace trireme::solvers
