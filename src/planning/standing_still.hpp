// SPDX-License-Identifier: BSD-3-Clause
// Whether the residual of a loop stands still.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace trireme {

// The residual stands still where the later half of so many iterations has not halved it.
inline constexpr std::size_t kShownToStandStill = 400;
inline constexpr double kLeastGainToMove = 2;

// `best`: the least norm so far, for each iteration.
inline bool stands_still(std::span<const double> best) {
  if (best.size() < kShownToStandStill) return false;
  return best[best.size() / 2] < kLeastGainToMove * best.back();
}

// The least norms so far.
class BestNorms {
 public:
  void add(double norm) {
    best_.push_back(!best_.empty() && !(norm < best_.back()) ? best_.back() : norm);
  }
  bool stand_still() const { return stands_still(best_); }

 private:
  std::vector<double> best_;
};

}  // namespace trireme
