// SPDX-License-Identifier: BSD-3-Clause
// The vectors and scalars of the columns that a lockstep solve still works on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "solvers/solver.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

struct LockstepColumn {
  std::int64_t number = 0;  // the caller's
  State state;
  const IterationObserver* observer = nullptr;  // null: there is none
  bool takes_part = true;                       // in the part of the algorithm that runs
};

// Each vector of the algorithm holds its columns side by side without gaps: element (i, j) at
// i * width() + j. b and x are copies of the caller's, in the row order of the system.
class LockstepBlock {
 public:
  // `order` is HostSystem::order(), which must outlive the block.
  LockstepBlock(std::int64_t rows, std::span<const std::int32_t> order);

  // Allocates memory for `width` columns with `vectors` vectors each, which bring b and x and the
  // work vectors. Throws std::bad_alloc.
  void reserve(std::int64_t width, int vectors);

  // Takes `columns` out of the caller's B and X, to which X must stay valid until every column has
  // left. With `zero_guess`, x = 0 and the caller's X is not read.
  void bring(std::vector<LockstepColumn> columns, MultiVector<const double> b,
             MultiVector<double> x, bool zero_guess);

  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return static_cast<std::int64_t>(columns_.size()); }
  std::vector<LockstepColumn>& columns() { return columns_; }
  // The vectors of the block. vector(0) is b, vector(1) is x.
  double* vector(int k) { return first_ + k * stride_; }

  // The columns whose state fulfils `ended` leave: x goes to the caller's X, and the columns that
  // remain move together.
  void leave(const std::function<bool(const State&)>& ended);
  // The columns that have left, in the order in which they did.
  const std::vector<LockstepColumn>& ended() const { return ended_; }

 private:
  void give_back(std::span<const std::int64_t> places);
  void keep(std::span<const std::int64_t> places);

  std::int64_t rows_, stride_ = 0;
  std::span<const std::int32_t> order_;
  int vectors_ = 0;
  Array<double> memory_;
  double* first_ = nullptr;  // vector(0): the first cache line in memory_
  std::vector<LockstepColumn> columns_, ended_;
  MultiVector<double> callers_x_;
};

}  // namespace trireme::solvers
