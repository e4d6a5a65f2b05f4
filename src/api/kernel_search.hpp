// SPDX-License-Identifier: BSD-3-Clause
// `kernel: auto` of a Solver: between two solves, what planning/tuner.hpp decides is done. The
// first solve has the kernel of the rule in planning/choose.hpp.
#pragma once

#include <trireme/solver.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/ranks.hpp"
#include "distributed/operator.hpp"
#include "kernels/registry.hpp"
#include "planning/candidates.hpp"
#include "planning/tuner.hpp"

namespace trireme::api {

class KernelSearch {
 public:
  // `running` multiplies by `matrix` so far, and `ranks` must outlive this.
  KernelSearch(const Ranks& ranks, std::shared_ptr<DistributedMatrix> matrix, KernelChoice running,
               MeasureProduct measure = measure_product);

  void solve_ends(std::int64_t products, double seconds);
  // Times kernels whose trial pays for so many solves ahead. If there were more, as many are
  // expected to follow, and all trials may take Tuner::kSmallPart of their time. `running` is the
  // operator in use, and `make` makes one by another kernel. Returns the operator that multiplies
  // faster than `running`; null: none that was timed does. Collective.
  std::shared_ptr<Operator> between_solves(
      Operator& running, std::int64_t solves_ahead,
      const std::function<std::shared_ptr<Operator>(const KernelChoice&)>& make);

  const KernelChoice& choice() const { return choice_; }
  std::vector<KernelTrial> trials() const;  // the running kernel first; empty: none was listed

 private:
  SolveProgress progress(std::int64_t solves_ahead) const;
  bool has_room() const;
  std::optional<std::size_t> next(const SolveProgress& here, bool announced) const;
  void measure(std::size_t option, Operator& op, double seconds_before);

  const Ranks& ranks_;
  std::shared_ptr<DistributedMatrix> matrix_;
  KernelChoice choice_;
  MeasureProduct measure_product_;
  std::optional<Tuner> tuner_;  // made where a trial may pay
  bool lacks_room_ = false;
  std::size_t running_ = 0;  // of the tuner's options
  std::int64_t solves_ = 0, products_of_last_ = 0;
  double seconds_ = 0;  // of all solves
};

}  // namespace trireme::api
