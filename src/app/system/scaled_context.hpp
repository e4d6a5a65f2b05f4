// SPDX-License-Identifier: BSD-3-Clause
// What a run needs to work on a scaled system (distributed/scaling/system_scaling.hpp) in place of
// the one that was read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run_kernel.hpp"
#include "base/stopwatch.hpp"
#include "distributed/scaling/scaled_values.hpp"
#include "distributed/scaling/system_scaling.hpp"

namespace trireme {

class ScaledContext {
 public:
  // Scales a copy of the matrix as the case of `of` asks for, which must outlive this. In a
  // sequence, the copy follows the steps by SolveContext::follow_step(). Throws what find_scaling()
  // and scaled_matrix() throw. Collective.
  explicit ScaledContext(const SolveContext& of);
  ScaledContext(const ScaledContext&) = delete;

  const SolveContext& context() const { return context_; }
  // Seconds that scaling took before the first solve, on the slowest rank.
  double seconds() const { return seconds_; }
  // Why the matrix is singular, whatever its values are; empty: no matching says that it is.
  std::string why_singular() const;
  // What the report says of the scaling.
  std::vector<std::string> notes() const;

 private:
  // A scaling and the matrix that it makes of the present one.
  struct Scaled {
    SystemScaling scaling;
    std::shared_ptr<DistributedMatrix> matrix;
  };
  Scaled scaled(const MatchingRules& rules) const;
  // What depends on scaling_ and the matrix that it has made. Collective.
  void begin_with_scaling();
  // Weighs the rows in the loop's test of convergence. Collective.
  void weigh_rows();
  // Of SolveContext.
  bool follow_step(Steps::Change change, const std::function<void()>& give_up);

  Stopwatch watch_;
  const SolveContext& of_;
  SystemScaling scaling_;
  std::optional<ScaledValues> values_;  // of a sequence
  SolveContext context_;
  double seconds_ = 0;
};

}  // namespace trireme
