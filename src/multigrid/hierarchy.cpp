// SPDX-License-Identifier: BSD-3-Clause
// Builds the levels of a hierarchy and runs its cycle.
#include "multigrid/hierarchy.hpp"

#include <cmath>

#include "base/array.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

struct Hierarchy::Parts {
  std::shared_ptr<DistributedMatrix> matrix;
  Options options;
  Array<double> inverse_diagonal;
  std::vector<LevelFacts> levels;
  SetUpFacts set_up;
  std::string remark;

  void set_numbers();
};

void Hierarchy::Parts::set_numbers() {
  const Stopwatch watch;
  inverse_diagonal.resize(matrix->local_rows());
  collectively(matrix->comm, [&] {
    matrix->diagonal(inverse_diagonal);
    for (std::size_t i = 0; i < inverse_diagonal.size(); ++i) {
      if (!(std::abs(inverse_diagonal[i]) > 0) || !std::isfinite(inverse_diagonal[i]))
        fail(ExitCode::input,
             "multigrid needs a finite diagonal without zeros; that of row {} (from 0) is {}",
             matrix->first_row() + static_cast<std::int64_t>(i), inverse_diagonal[i]);
      inverse_diagonal[i] = 1 / inverse_diagonal[i];
    }
  });
  set_up.smoothers = set_up.total = max_over_ranks(matrix->comm, watch.seconds());
}

Hierarchy::Hierarchy(std::shared_ptr<DistributedMatrix> matrix, const NearNullspace&,
                     const Options& options)
    : parts_(std::make_unique<Parts>()) {
  parts_->matrix = std::move(matrix);
  parts_->options = options;
  parts_->levels.push_back({.rows = parts_->matrix->global_rows(),
                            .nnz = parts_->matrix->global_nnz,
                            .kernel = "diagonal"});
  parts_->set_numbers();
}

Hierarchy::~Hierarchy() = default;

void Hierarchy::renew() { parts_->set_numbers(); }

void Hierarchy::apply(std::span<const double> r, std::span<double> z) {
  const Array<double>& inverse = parts_->inverse_diagonal;
  for (std::size_t i = 0; i < r.size(); ++i) z[i] = inverse[i] * r[i];
}

const Options& Hierarchy::options() const { return parts_->options; }
const std::vector<LevelFacts>& Hierarchy::levels() const { return parts_->levels; }
const SetUpFacts& Hierarchy::set_up() const { return parts_->set_up; }

double Hierarchy::operator_complexity() const {
  double nnz = 0;
  for (const LevelFacts& level : parts_->levels) nnz += static_cast<double>(level.nnz);
  const auto finest = static_cast<double>(parts_->levels.front().nnz);
  return finest > 0 ? nnz / finest : 1;
}

double Hierarchy::grid_complexity() const {
  double rows = 0;
  for (const LevelFacts& level : parts_->levels) rows += static_cast<double>(level.rows);
  const auto finest = static_cast<double>(parts_->levels.front().rows);
  return finest > 0 ? rows / finest : 1;
}

std::int64_t Hierarchy::bytes() const {
  return static_cast<std::int64_t>(parts_->inverse_diagonal.size() * sizeof(double));
}

const std::string& Hierarchy::remark() const { return parts_->remark; }

}  // namespace trireme::multigrid
