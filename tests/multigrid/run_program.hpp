// SPDX-License-Identifier: BSD-3-Clause
// Runs the steps of a cycle row by row on the host, as a GPU does, for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "multigrid/cycle_program.hpp"
#include "multigrid/level_parts.hpp"

namespace trireme::multigrid::test {

class ProgramOnHost {
 public:
  ProgramOnHost(std::vector<HostLevelParts> parts, CycleKind kind) : parts_(std::move(parts)) {
    std::vector<ProgramLevel> levels;
    for (const HostLevelParts& part : parts_) {
      levels.push_back({part.kind, part.smoothing, part.block_size});
      vectors_.emplace_back(5, Array<double>(static_cast<std::size_t>(part.rows), NAN));
    }
    steps_ = cycle_program(levels, kind);
  }

  const std::vector<CycleStep>& steps() const { return steps_; }

  Array<double> apply(std::span<const double> r) {
    vectors_[0][index(LevelVector::b)].assign(r.begin(), r.end());
    for (const CycleStep& step : steps_) run(step);
    return vectors_[0][index(LevelVector::x)];
  }

 private:
  static std::size_t index(LevelVector v) { return static_cast<std::size_t>(v) - 1; }
  double* at(const VectorRef& ref) {
    return ref.vector == LevelVector::none ? nullptr
                                           : vectors_[ref.level][index(ref.vector)].data();
  }

  void run(const CycleStep& step) {
    const HostLevelParts& level = parts_[step.level];
    StepData data{.kind = step.kind,
                  .from_zero = step.from_zero,
                  .rows = level.rows,
                  .block_size = level.block_size,
                  .f = step.f,
                  .g = step.g,
                  .start = step.start,
                  .x = at(step.x),
                  .b = at(step.b),
                  .w = level.inverse.data(),
                  .last = at(step.last),
                  .d = at(step.d),
                  .to = at(step.to),
                  .kept = at(step.kept)};
    EXPECT_NE(data.to, nullptr);
    switch (step.kind) {
      case StepKind::product:
        return multiply<StepKind::product, false>(step, data);
      case StepKind::correct:
        return multiply<StepKind::correct, false>(step, data);
      case StepKind::residual:
        return step.from_zero ? multiply<StepKind::residual, true>(step, data)
                              : multiply<StepKind::residual, false>(step, data);
      case StepKind::smooth:
        EXPECT_NE(data.to, data.x);
        return step.from_zero ? multiply<StepKind::smooth, true>(step, data)
                              : multiply<StepKind::smooth, false>(step, data);
      case StepKind::start:
      case StepKind::smooth_blocks:
        for (std::int64_t i = 0; i < level.rows; ++i) run_step_row<PlainLoad>(data, i);
        return;
      case StepKind::solve:
        for (std::int64_t i = 0; i < level.rows; ++i) {
          data.to[i] = 0;
          for (std::int64_t j = 0; j < level.rows; ++j)
            data.to[i] += level.dense_inverse[i * level.rows + j] * data.b[j];
        }
    }
  }

  template <StepKind kind, bool from_zero>
  void multiply(const CycleStep& step, const StepData& data) {
    const HostLevelParts& level = parts_[step.level];
    const CsrView<double>& m = step.matrix == StepMatrix::a             ? level.a
                               : step.matrix == StepMatrix::prolongator ? level.p
                                                                        : level.restriction;
    const bool narrow =
        (step.matrix == StepMatrix::a ? level.precision : level.transfer_precision) ==
        Precision::mixed;
    for (std::int64_t i = m.rows - 1; i >= 0; --i) {  // the order of the rows does not matter
      const StepRow row = load_step_row<kind, from_zero, PlainLoad>(data, i);
      double sum = 0;
      for (auto k = m.row_ptr[i]; k < m.row_ptr[i + 1]; ++k) {
        const double value = narrow ? double{static_cast<float>(m.values[k])} : m.values[k];
        sum += value * step_x<from_zero, PlainLoad>(data, m.col_idx[k]);
      }
      finish_step_row<kind, from_zero>(data, i, row, sum);
    }
  }

  std::vector<HostLevelParts> parts_;
  std::vector<std::vector<Array<double>>> vectors_;  // of each level, in the order of LevelVector
  std::vector<CycleStep> steps_;
};

}  // namespace trireme::multigrid::test
