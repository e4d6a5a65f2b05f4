// SPDX-License-Identifier: BSD-3-Clause
// What a run needs to work on a scaled system (distributed/scaling/system_scaling.hpp) in place of
// the one that was read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/run_kernel.hpp"
#include "base/stopwatch.hpp"
#include "distributed/scaling/system_scaling.hpp"

namespace trireme {

class ScaledContext {
 public:
  // Scales a copy of the matrix as the case of `of` asks for, which must outlive this. Throws what
  // find_scaling() and scaled_matrix() throw. Collective.
  explicit ScaledContext(const SolveContext& of);
  ScaledContext(const ScaledContext&) = delete;

  const SolveContext& context() const { return context_; }
  // Seconds that scaling took, on the slowest rank.
  double seconds() const { return seconds_; }
  // Why the matrix is singular, whatever its values are; empty: no matching says that it is.
  std::string why_singular() const;
  // What the report says of the scaling.
  std::vector<std::string> notes() const;

 private:
  Stopwatch watch_;
  SystemScaling scaling_;
  SolveContext context_;
  double seconds_ = 0;
};

}  // namespace trireme
