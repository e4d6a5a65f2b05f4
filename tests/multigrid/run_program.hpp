// SPDX-License-Identifier: BSD-3-Clause
// Runs the steps of a cycle row by row on the host, as a GPU does, for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "multigrid/cycle/cycle_program.hpp"
#include "multigrid/cycle/level_parts.hpp"

namespace trireme::multigrid::test {

class ProgramOnHost {
 public:
  ProgramOnHost(std::vector<HostLevelParts> parts, CycleKind kind, bool restricts_alone = true)
      : parts_(std::move(parts)) {
    std::vector<ProgramLevel> levels;
    for (const HostLevelParts& part : parts_) {
      levels.push_back({part.kind, part.smoothing, part.block_size, restricts_alone});
      vectors_.emplace_back(5, Array<double>(static_cast<std::size_t>(part.rows), NAN));
    }
    steps_ = cycle_program(levels, kind);
  }

  const std::vector<CycleStep>& steps() const { return steps_; }

  Array<double> apply(std::span<const double> r) {
    Array<double> z(r.size(), NAN);
    for (const CycleStep& step : steps_) run(step, r.data(), z.data());
    return z;
  }

 private:
  static std::size_t index(LevelVector v) { return static_cast<std::size_t>(v) - 1; }
  double* at(const VectorRef& ref) {
    return ref.vector == LevelVector::none ? nullptr
                                           : vectors_[ref.level][index(ref.vector)].data();
  }

  void run(const CycleStep& step, const double* r, double* z) {
    const HostLevelParts& level = parts_[step.level];
    const HostLevelParts& of_w = parts_[step.w_level];
    StepData data{.kind = step.kind,
                  .ends = step.ends,
                  .rows = level.rows,
                  .block_size = of_w.block_size,
                  .f = step.f,
                  .g = step.g,
                  .x = at(step.x),
                  .b = at(step.b),
                  .w = of_w.inverse.data(),
                  .last = at(step.last),
                  .d = at(step.d),
                  .to = at(step.to),
                  .kept = at(step.kept),
                  .r = r,
                  .z = z};
    if (step.kind == StepKind::take && !data.to) data.w = nullptr;
    EXPECT_TRUE(data.to || data.kept || data.ends);
    switch (step.kind) {
      case StepKind::product:
        return multiply<StepKind::product>(step, data);
      case StepKind::correct:
        return multiply<StepKind::correct>(step, data);
      case StepKind::residual:
        return multiply<StepKind::residual>(step, data);
      case StepKind::smooth:
        EXPECT_NE(data.to, data.x);
        return multiply<StepKind::smooth>(step, data);
      case StepKind::start:
      case StepKind::smooth_blocks:
        for (std::int64_t i = 0; i < level.rows; ++i) run_smoother_row(data, i);
        return;
      case StepKind::take:
        for (std::int64_t i = 0; i < level.rows; ++i) take_row(data, i, 1);
        return;
      case StepKind::give:
        for (std::int64_t i = 0; i < level.rows; ++i) z[i] = data.x[i];
        return;
      case StepKind::solve:
        for (std::int64_t i = 0; i < level.rows; ++i) {
          data.to[i] = 0;
          for (std::int64_t j = 0; j < level.rows; ++j)
            data.to[i] += level.dense_inverse[i * level.rows + j] * data.b[j];
        }
    }
  }

  template <StepKind kind>
  void multiply(const CycleStep& step, const StepData& s) {
    const HostLevelParts& level = parts_[step.level];
    const CsrView<double>& m = step.matrix == StepMatrix::a             ? level.a
                               : step.matrix == StepMatrix::prolongator ? level.p
                                                                        : level.restriction;
    const bool narrow =
        (step.matrix == StepMatrix::a ? level.precision : level.transfer_precision) ==
        Precision::mixed;
    for (std::int64_t i = m.rows - 1; i >= 0; --i) {  // the order of the rows does not matter
      double sum = 0;
      for (auto k = m.row_ptr[i]; k < m.row_ptr[i + 1]; ++k)
        sum += (narrow ? double{static_cast<float>(m.values[k])} : m.values[k]) * s.x[m.col_idx[k]];
      StepRow<double> row;
      if (s.b) row.b = s.b[i];
      if (s.last) row.last = s.last[i];
      if (s.kept || kind == StepKind::smooth) row.w = s.w[i];
      if (kind == StepKind::smooth) row.x = s.x[i];
      if (kind == StepKind::correct) row.x = s.to[i];
      const StepResult<double> result = end_row<kind>(s, row, sum);
      if (s.to) s.to[i] = result.to;
      if (s.d) s.d[i] = result.d;
      if (s.kept) s.kept[i] = result.kept;
      if (s.ends) s.z[i] = result.to;
    }
  }

  std::vector<HostLevelParts> parts_;
  std::vector<std::vector<Array<double>>> vectors_;  // of each level, in the order of LevelVector
  std::vector<CycleStep> steps_;
};

}  // namespace trireme::multigrid::test
