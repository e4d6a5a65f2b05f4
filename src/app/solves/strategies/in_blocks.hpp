// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once, as far as the solver and the memory allow it; the others one by
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/solves/block_width.hpp"
#include "app/solves/scaled_system.hpp"
#include "app/solves/solve_parts.hpp"
#include "app/solves/strategies/one_by_one.hpp"
#include "app/solves/strategies/solve_strategy.hpp"

namespace trireme {

class InBlocks final : public SolveStrategy {
 public:
  // `parts` is for a case with several right-hand sides, and must outlive this. Collective.
  explicit InBlocks(SolveParts& parts);

  bool solve(std::size_t k) override;
  void fill(RunOutcome& outcome) override;

 private:
  // Right-hand sides and guesses side by side, as the solver works on them.
  struct Block {
    std::int64_t rows = 0, width = 0;
    std::vector<std::unique_ptr<ScaledSystem>> systems = {};
    Array<double> b = {}, x = {};
    bool nonzero_guess = false;
    double unit = 0;  // the largest one

    MultiVector<double> view(Array<double>& of) const {
      return side_by_side(of.data(), rows, width);
    }
  };

  std::size_t columns_at_once(std::size_t k);
  std::int64_t solves_after() const;
  Block block_of(std::size_t first, std::size_t count);
  std::vector<KspResult> run(Block& block);
  void solve_block(std::size_t first, std::size_t count);

  SolveParts& parts_;
  OneByOne one_by_one_;
  BlockWidth width_;
  std::int64_t widest_ = 1;  // that was solved
};

}  // namespace trireme
