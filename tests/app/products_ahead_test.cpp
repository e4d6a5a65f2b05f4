// SPDX-License-Identifier: BSD-3-Clause
// What is expected of a solve before it begins.
#include "app/solves/products_ahead.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

SolverSpec solver(const std::string& method, const std::string& preconditioner) {
  SolverSpec spec;
  spec.method = method;
  spec.preconditioner.emplace(preconditioner);
  return spec;
}

TEST(ProductsAhead, AreThoseOf300IterationsWhereNothingIsKnown) {
  EXPECT_EQ(products_of_a_solve(solver("cg", "jacobi"), {}).count, 300);
  EXPECT_EQ(products_of_a_solve(solver("gmres", "ilu"), {}).count, 300);
  EXPECT_EQ(products_of_a_solve(solver("bicgstab", "jacobi"), {}).count, 600);
}

TEST(ProductsAhead, HasTheProductsOfEveryMethodOfTheListAndOfPetscs) {
  solvers::for_each_method([&](auto entry) {
    const solvers::MethodInfo& info = decltype(entry)::type::info;
    for (const std::string_view name : {info.name, info.petsc_name})
      EXPECT_EQ(products_of_a_solve(solver(std::string(name), "jacobi"), {}).count,
                300 * info.products)
          << name;
  });
  EXPECT_EQ(products_of_a_solve(solver("cgs", "jacobi"), {}).count, 600);
}

TEST(ProductsAhead, AreThoseOf15IterationsAndTheirCyclesWithMultigrid) {
  EXPECT_EQ(products_of_a_solve(solver("cg", "multigrid"), {}).count, 15 * 5);
  EXPECT_EQ(products_of_a_solve(solver("bicgstab", "multigrid"), {}).count, 15 * 10);
  EXPECT_EQ(products_of_a_solve(solver("cg", "gamg"), {}).count, 15 * 5);
  SolverSpec thorough = solver("cg", "multigrid");
  thorough.multigrid.degree = 4;
  EXPECT_EQ(products_of_a_solve(thorough, {}).count, 15 * 9);
  EXPECT_NE(products_of_a_solve(thorough, {}).why.find("15 iterations"), std::string::npos);
}

TEST(ProductsAhead, AreThoseOfAnEarlierSolve) {
  const ProductsAhead ahead = products_of_a_solve(solver("bicgstab", "jacobi"), 41);
  EXPECT_EQ(ahead.count, 82);
  EXPECT_NE(ahead.why.find("an earlier run took 41"), std::string::npos) << ahead.why;
}

TEST(ProductsAhead, AreAtMostThoseOfMaxIterations) {
  SolverSpec spec = solver("cg", "jacobi");
  spec.max_iterations = 20;
  EXPECT_EQ(products_of_a_solve(spec, {}).count, 20);
  EXPECT_EQ(products_of_a_solve(spec, 41).count, 20);
  EXPECT_EQ(products_of_a_solve(spec, 7).count, 7);
  EXPECT_NE(products_of_a_solve(spec, 41).why.find("max_iterations"), std::string::npos);
  spec.max_iterations = 0;
  EXPECT_EQ(products_of_a_solve(spec, {}).count, 1);
}

TEST(ProductsAhead, IsOneWithADirectSolver) {
  EXPECT_EQ(products_of_a_solve(solver("preonly", "lu"), {}).count, 1);
}

}  // namespace
}  // namespace trireme
