// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "api/failures.hpp"
#include "api/work.hpp"

namespace trireme::api {

Solver::Solver(const CsrArrays& matrix, const SolverOptions& options)
    : work_(with_failures([&] { return std::make_unique<Work>(matrix, options); })) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

std::int64_t Solver::rows() const { return work_->rows(); }
SolveReport Solver::solve(std::span<const double> b, std::span<double> x, const SolveOptions& how) {
  return with_failures([&] { return work_->solve(b, x, how); });
}
std::vector<SolveReport> Solver::solve_many(std::span<const double> b, std::span<double> x,
                                            std::int64_t width, const SolveOptions& how) {
  return with_failures([&] { return work_->solve_many(b, x, width, how); });
}
void Solver::update(std::span<const double> values) {
  with_failures([&] { work_->update(values); });
}
void Solver::precondition(std::span<const double> r, std::span<double> z) {
  with_failures([&] { work_->precondition(r, z); });
}
SolverFacts Solver::facts() const {
  return with_failures([&] { return work_->facts(); });
}

}  // namespace trireme::api
