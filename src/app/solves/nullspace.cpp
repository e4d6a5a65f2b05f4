// SPDX-License-Identifier: BSD-3-Clause
// The search by MINRES on the host, with the product of the reports.
#include "app/solves/nullspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "app/solves/true_residual.hpp"
#include "base/available_memory.hpp"
#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "solvers/host_solver.hpp"

namespace trireme {
namespace {

constexpr double kRounding = 1e-12;  // of A z, relative to D z
constexpr std::size_t kMostParts = 8;

class PlainSystem final : public solvers::HostSystem {
 public:
  PlainSystem(const DistributedMatrix& matrix, PlainProduct& product)
      : matrix_(matrix), product_(product) {}
  std::int64_t rows() const override { return matrix_.local_rows(); }
  void multiply(std::span<const double> x, std::span<double> y) override {
    product_.multiply(x, y);
  }
  void sum(std::span<double> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  matrix_.comm);
  }
  int processes() const override { return size_of(matrix_.comm); }

 private:
  const DistributedMatrix& matrix_;
  PlainProduct& product_;
};

// The number of different numbers of v on all ranks; none above kMostParts. Collective.
std::optional<std::size_t> distinct_values(MPI_Comm comm, std::span<const double> v) {
  double largest = 0;
  for (const double value : v) largest = std::max(largest, std::abs(value));
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, comm);
  std::vector<double> found;
  const auto add = [&](double value) {
    const bool known = std::ranges::any_of(
        found, [&](double other) { return std::abs(other - value) <= 1e-6 * largest; });
    if (!known && found.size() <= kMostParts) found.push_back(value);
  };
  for (const double value : v) add(value);
  constexpr int kSlots = static_cast<int>(kMostParts) + 1;
  found.resize(kSlots, std::nan(""));
  std::vector<double> all(static_cast<std::size_t>(kSlots) * size_of(comm));
  MPI_Allgather(found.data(), kSlots, MPI_DOUBLE, all.data(), kSlots, MPI_DOUBLE, comm);
  found.clear();
  for (const double value : all)
    if (!std::isnan(value)) add(value);
  if (found.size() > kMostParts) return std::nullopt;
  return found.size();
}

}  // namespace

bool has_room_for_search(const DistributedMatrix& matrix) {
  constexpr double kVectors = 12, kPartOfMemory = 0.25;
  const AvailableMemory memory = available_memory();
  const double free = static_cast<double>(std::min(memory.own, memory.shared));
  const double needed = kVectors * sizeof(double) * static_cast<double>(matrix.local_rows());
  return !any_rank(matrix.comm, needed > kPartOfMemory * free);
}

std::string find_null_vector(const DistributedMatrix& matrix, PlainProduct& product,
                             std::span<const double> b, double target,
                             const NullVectorSearch& search) {
  const std::size_t rows = b.size();
  Array<double> diagonal, z, image, y;
  collectively(matrix.comm, [&] {
    for (Array<double>* const vector : {&diagonal, &z, &image, &y}) vector->assign(rows, 0.0);
  });
  matrix.diagonal(diagonal);
  for (double& d : diagonal) d = d == 0 ? 1 : std::abs(d);
  for (std::size_t i = 0; i < rows; ++i) z[i] = b[i] / diagonal[i];

  PlainSystem system(matrix, product);
  solvers::PreconditionerSpec jacobi;
  jacobi.kind = solvers::PreconditionerKind::jacobi;
  jacobi.diagonal = diagonal;
  jacobi.first_row = matrix.first_row();
  solvers::HostSolver solver(system, solvers::Method::minres, solvers::Variant::classic, jacobi);
  solvers::Tolerances rule;
  rule.rtol = 1e-13;
  rule.max_iterations = search.max_iterations;
  solvers::IterationObserver observer;
  const Stopwatch watch;
  observer.stop = [&] { return watch.seconds() > search.max_seconds; };
  product.multiply(z, image);
  solver.solve({image, y, true}, rule, observer);
  for (std::size_t i = 0; i < rows; ++i) z[i] -= y[i];
  product.multiply(z, image);
  for (std::size_t i = 0; i < rows; ++i) y[i] = diagonal[i] * z[i];
  const double length = product.norm(z);
  const double least_residual = length > 0 ? std::abs(product.dot(z, b)) / length : 0;
  if (!(product.norm(image) <= kRounding * product.norm(y)) || !(least_residual > target))
    return "";
  const auto parts = distinct_values(matrix.comm, z);
  return fmt::format(
      "; the matrix is singular, because it maps {} to zero, and b is outside of its range, "
      "because "
      "it has a part along that vector: no x has a residual below {:.3g} of ||b||; make b "
      "orthogonal "
      "to all vectors that the matrix maps to zero",
      parts ? fmt::format("a vector that is constant on each of {} parts of the rows", *parts)
            : "a vector that is not constant",
      relative(least_residual, product.norm(b)));
}

}  // namespace trireme
