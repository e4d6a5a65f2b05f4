// SPDX-License-Identifier: BSD-3-Clause
// Generated systems on ranks, what is expected of a cycle, and a conjugate gradient method that
// counts its iterations.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "distributed/host_operator.hpp"
#include "multigrid/hierarchy.hpp"
#include "parallel/collective.hpp"
#include "sparse/generators.hpp"

namespace trireme::multigrid::test {

// The rows of a generated matrix on the ranks of `comm`, cut between nodes of `block` rows.
inline std::shared_ptr<DistributedMatrix> generated(MPI_Comm comm, const std::string& kind,
                                                    std::int64_t n, std::int64_t block = 1) {
  const GenerateSpec spec{.kind = kind, .n = n};
  const std::int64_t rows = generator_shape(spec).rows;
  const int ranks = size_of(comm), rank = rank_of(comm);
  std::vector<std::int64_t> starts;
  for (int r = 0; r <= ranks; ++r) starts.push_back(rows / block * r / ranks * block);
  RowSlab slab = generate(spec, starts[rank], starts[rank + 1]);
  slab.global_nnz = sum_over_ranks(comm, slab.local.nnz());
  return distribute(comm, std::move(slab), std::move(starts));
}

// The values of this rank's rows in the order in which replace_values() takes them.
inline Array<double> values_of(const DistributedMatrix& a) {
  if (a.blocks.is_ghost.empty()) return a.blocks.local.values;
  Array<double> values;
  std::size_t local = 0, ghost = 0;
  for (const bool is_ghost : a.blocks.is_ghost)
    values.push_back(is_ghost ? a.blocks.ghost.values[ghost++] : a.blocks.local.values[local++]);
  return values;
}

// Uniform in (-0.5, 0.5); the number of a row does not depend on the rank that has it.
inline Array<double> random_rows(const DistributedMatrix& a, std::uint64_t seed) {
  Array<double> x(a.local_rows());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = to_unit(split_mix(static_cast<std::uint64_t>(a.first_row()) + i, seed)) - 0.5;
  return x;
}

inline double dot(MPI_Comm comm, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

struct CgResult {
  int iterations = 0;
  double factor = 0;  // mean reduction of the residual norm per iteration
  bool converged = false;
};

// Solves A x = b from x = 0 to a relative residual of 1e-8 in at most 200 iterations.
inline CgResult solve_by_cg(const std::shared_ptr<DistributedMatrix>& a, Hierarchy& m,
                            std::span<const double> b) {
  HostOperator op(a, "csr");
  const MPI_Comm comm = a->comm;
  Array<double> x(b.size(), 0.0), r(b.begin(), b.end()), z(b.size()), q(b.size());
  m.apply(r, z);
  Array<double> p = z;
  double rho = dot(comm, r, z);
  const double start = std::sqrt(dot(comm, r, r));
  CgResult result;
  double norm = start;
  while (norm > 1e-8 * start && result.iterations < 200 && std::isfinite(norm)) {
    op.multiply(p, q);
    const double alpha = rho / dot(comm, p, q);
    for (std::size_t i = 0; i < r.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    m.apply(r, z);
    const double next = dot(comm, r, z);
    for (std::size_t i = 0; i < r.size(); ++i) p[i] = z[i] + next / rho * p[i];
    rho = next;
    norm = std::sqrt(dot(comm, r, r));
    ++result.iterations;
  }
  op.multiply(x, q);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - q[i];
  const double reduction = std::sqrt(dot(comm, r, r)) / start;
  result.converged = reduction < 2e-8;
  result.factor = std::pow(reduction, 1.0 / std::max(1, result.iterations));
  return result;
}

inline CgResult solve_by_cg(const std::shared_ptr<DistributedMatrix>& a, Hierarchy& m) {
  return solve_by_cg(a, m, random_rows(*a, 5));
}

// Small enough limits that a small matrix has several levels, of which the first is distributed.
inline Options small_levels() {
  Options options;
  options.coarsest_rows = 30;
  options.replicated_rows = 150;
  return options;
}

inline Array<double> applied(Hierarchy& m, const Array<double>& r) {
  Array<double> z(r.size(), NAN);
  m.apply(r, z);
  return z;
}

// The set-up of `a` with these options, renewed for `changed` values, is that of a new build, and
// renewed for the first values, the first one. The options must lead to aggregates that do not
// depend on the values. Leaves the first values.
inline void expect_renewals_to_be_builds(const std::shared_ptr<DistributedMatrix>& a,
                                         const Options& options, std::span<const double> changed) {
  Hierarchy m(a, {}, options);
  const Array<double> r = random_rows(*a, 3), first = applied(m, r), values = values_of(*a);
  a->replace_values(changed);
  m.renew();
  Hierarchy again(a, {}, options);
  EXPECT_EQ(applied(m, r), applied(again, r));
  EXPECT_NE(applied(m, r), first);
  a->replace_values(values);
  m.renew();
  EXPECT_EQ(applied(m, r), first);
}

inline void expect_symmetric_and_definite(const DistributedMatrix& a, Hierarchy& m) {
  for (const std::uint64_t seed : {1, 2}) {
    const Array<double> r = random_rows(a, seed), s = random_rows(a, seed + 10);
    const Array<double> mr = applied(m, r), ms = applied(m, s);
    const double rr = dot(a.comm, r, mr), ss = dot(a.comm, s, ms);
    EXPECT_GT(rr, 0);
    EXPECT_GT(ss, 0);
    EXPECT_NEAR(dot(a.comm, r, ms), dot(a.comm, s, mr), 1e-12 * std::sqrt(rr * ss));
  }
}

}  // namespace trireme::multigrid::test
