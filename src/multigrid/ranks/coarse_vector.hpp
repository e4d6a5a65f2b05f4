// SPDX-License-Identifier: BSD-3-Clause
// A vector with the columns of a prolongator that crosses the borders of ranks.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "multigrid/ranks/coarse_columns.hpp"

namespace trireme::multigrid {

class CoarseVector {
 public:
  // `columns` is not kept. Collective.
  explicit CoarseVector(const CoarseColumns& columns);

  // By column of P.
  std::span<double> values() { return values_; }
  // Takes this rank's part of a coarse vector, and the ghosts from their owners. Collective.
  void take(std::span<const double> own);
  // The same from a whole coarse vector, without communication.
  void take_from_whole(std::span<const double> whole);
  // Sets this rank's part of a coarse vector to values(), to which the ghosts that other ranks have
  // of it are added, from rank 0 on. Collective.
  void add_up(std::span<double> own);

 private:
  std::int64_t first_, own_;  // of this rank's part of a coarse vector
  Array<std::int32_t> ghosts_, send_rows_;
  Array<double> values_, packed_;
  HaloExchange exchange_;
};

}  // namespace trireme::multigrid
