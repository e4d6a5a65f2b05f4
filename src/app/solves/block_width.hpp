// SPDX-License-Identifier: BSD-3-Clause
// How many right-hand sides are solved at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "app/run_kernel.hpp"
#include "app/solves/plan.hpp"

namespace trireme {

// `solver.block` of the case, or what `auto` makes of it for this matrix, kernel and
// preconditioner. All members are collective.
class BlockWidth {
 public:
  // The case has several right-hand sides, and does not ask for one after another. The references
  // must outlive the object.
  BlockWidth(const SolveContext& context, const Plan& plan)
      : context_(context), plan_(plan), columns_(std::ssize(context.problem.rhs)) {}

  // Whether blocks are to be expected, as far as it is known before value() chooses.
  bool is_expected() const;
  // The number of columns at once; 1: one after another. Chosen at the first call, except that a
  // preconditioner of single columns, which `preconditioner: auto` may have taken since, has no
  // block where none was asked for. Throws Error{resource} where a block that was asked for does
  // not fit.
  std::size_t value();
  // Why there are no blocks although some were asked for; empty: there are, or none were.
  std::string take_note() { return std::move(note_); }

 private:
  std::size_t choose();

  const SolveContext& context_;
  const Plan& plan_;
  std::int64_t columns_;
  std::size_t chosen_ = 0;  // 0: not yet
  std::string note_;
};

}  // namespace trireme
