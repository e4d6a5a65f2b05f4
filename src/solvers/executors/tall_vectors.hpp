// SPDX-License-Identifier: BSD-3-Clause
// Products of vectors that lie side by side with each other and with small dense matrices, on the
// host.
#pragma once

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "solvers/host_solver.hpp"
#include "solvers/methods/small_matrix.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// All vectors have this process's rows and lie side by side without gaps. The results have the same
// bits for any number of threads.
class TallVectors {
 public:
  // `system` must outlive the object.
  explicit TallVectors(HostSystem& system) : system_(system) {}

  // A X by the exact product. Collective.
  void multiply(MultiVector<const double> x, MultiVector<double> y) {
    system_.multi_multiply_exactly(x, y);
  }

  // Adds A^T B to the pending ones.
  void gram(MultiVector<const double> a, MultiVector<const double> b);
  // The pending products A^T B over all processes, in the order of the calls. Collective.
  std::vector<SmallMatrix> grams();

  // Y += X C or Y -= X C
  void add(MultiVector<double> y, MultiVector<const double> x, const SmallMatrix& c);
  void subtract(MultiVector<double> y, MultiVector<const double> x, const SmallMatrix& c);
  // Y = X C
  void set(MultiVector<double> y, MultiVector<const double> x, const SmallMatrix& c);

 private:
  HostSystem& system_;
  std::vector<SmallMatrix> pending_;
  Array<double> partials_;
};

}  // namespace trireme::solvers
