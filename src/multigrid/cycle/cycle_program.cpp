// SPDX-License-Identifier: BSD-3-Clause
// The executor that writes down the steps of a cycle.
#include "multigrid/cycle/cycle_program.hpp"

#include <cstddef>

namespace trireme::multigrid {
namespace {

class Recorder;

// The executor of one level. The addresses in the algorithm stand for vectors and are never read.
class LevelRecorder {
 public:
  LevelRecorder(Recorder& all, int level) : all_(all), level_(level) {}

  void product(const double* x, double* q);
  void pass(const Residual& p);
  template <class Inverse>
  void pass(const SmoothFromZero<Inverse>& p);
  template <class Inverse, bool first, bool final>
  void pass(const SmoothStep<Inverse, first, final>& p);

 private:
  Recorder& all_;
  int level_;
};

class Recorder {
 public:
  explicit Recorder(std::span<const ProgramLevel> levels)
      : levels_(levels.begin(), levels.end()),
        cycle_levels_(levels.size()),
        in_twin_(levels.size()) {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      CycleLevel& level = cycle_levels_[l];
      level.kind = levels[l].kind;
      level.smoothing = levels[l].smoothing;
      level.block_size = levels[l].block_size;
      level.x = &names_[0];
      level.d = &names_[1];
      level.q = &names_[2];
      level.b = &names_[3];
    }
    add({.kind = StepKind::take, .kept = {0, LevelVector::b}});
  }

  int levels() const { return static_cast<int>(cycle_levels_.size()); }
  const CycleLevel& level(int l) const { return cycle_levels_[l]; }
  LevelRecorder on(int l) { return {*this, l}; }

  void restrict_from(int l, const double* /*r*/) {
    add({.kind = StepKind::product,
         .matrix = StepMatrix::restriction,
         .level = l,
         .w_level = l + 1,
         .x = {l, LevelVector::q},
         .to = {l + 1, LevelVector::b}});
  }
  void correct(int l) {
    add({.kind = StepKind::correct,
         .matrix = StepMatrix::prolongator,
         .level = l,
         .w_level = l,
         .x = x_of(l + 1),
         .to = x_of(l)});
  }
  void solve(int l) {
    add({.kind = StepKind::solve,
         .level = l,
         .w_level = l,
         .b = {l, LevelVector::b},
         .to = x_of(l)});
  }

  std::vector<CycleStep> take() {
    CycleStep& last = steps_.back();
    last.ends = last.kind == StepKind::smooth;
    if (last.ends)
      last.to = {};
    else
      add({.kind = StepKind::give, .x = x_of(0), .ends = true});
    return std::move(steps_);
  }

 private:
  friend class LevelRecorder;

  void add(const CycleStep& step) { steps_.push_back(step); }

  VectorRef x_of(int l) const { return {l, in_twin_[l] ? LevelVector::twin : LevelVector::x}; }

  // x = g W b. Where a diagonal W allows it, the step that writes b also writes x.
  void start(int l, double g) {
    CycleStep& before = steps_.back();
    const bool takes = before.kind == StepKind::take;
    const bool restricts = before.matrix == StepMatrix::restriction && before.level == l - 1 &&
                           levels_[l - 1].restricts_alone;
    if (levels_[l].block_size > 1 || (!takes && !restricts))
      return add({.kind = StepKind::start,
                  .level = l,
                  .w_level = l,
                  .g = g,
                  .b = {l, LevelVector::b},
                  .to = x_of(l)});
    before.g = g;
    (takes ? before.to : before.kept) = x_of(l);
  }

  double names_[4] = {};
  std::vector<ProgramLevel> levels_;
  std::vector<CycleLevel> cycle_levels_;
  std::vector<bool> in_twin_;  // where x of the level is
  std::vector<CycleStep> steps_;
};

// The pass that follows takes the product with it. A pass by dense blocks reads the products of
// other rows and is therefore a step of its own.
void LevelRecorder::product(const double* /*x*/, double* /*q*/) {}

void LevelRecorder::pass(const Residual& /*p*/) {
  all_.add({.kind = StepKind::residual,
            .matrix = StepMatrix::a,
            .level = level_,
            .w_level = level_,
            .x = all_.x_of(level_),
            .b = {level_, LevelVector::b},
            .to = {level_, LevelVector::q}});
}

template <class Inverse>
void LevelRecorder::pass(const SmoothFromZero<Inverse>& p) {
  all_.start(level_, p.g);
}

template <class Inverse, bool first, bool final>
void LevelRecorder::pass(const SmoothStep<Inverse, first, final>& p) {
  const VectorRef d{level_, LevelVector::d}, q{level_, LevelVector::q};
  const bool after_start = !first && p.last == all_.cycle_levels_[level_].x;
  const bool by_blocks = all_.cycle_levels_[level_].block_size > 1;
  CycleStep step{.kind = StepKind::smooth,
                 .matrix = StepMatrix::a,
                 .level = level_,
                 .w_level = level_,
                 .f = p.f,
                 .g = p.g,
                 .x = all_.x_of(level_),
                 .b = {level_, LevelVector::b}};
  if (!final) step.d = d;
  // After a start the direction before this one is x itself.
  if (!first) step.last = after_start ? step.x : d;
  if (by_blocks) {
    all_.add({.kind = StepKind::product,
              .matrix = StepMatrix::a,
              .level = level_,
              .w_level = level_,
              .x = step.x,
              .to = q});
    step.kind = StepKind::smooth_blocks;
    step.matrix = StepMatrix::none;
    step.to = step.x;
    step.x = q;
    return all_.add(step);
  }
  all_.in_twin_[level_] = !all_.in_twin_[level_];
  step.to = all_.x_of(level_);
  all_.add(step);
}

}  // namespace

std::vector<CycleStep> cycle_program(std::span<const ProgramLevel> levels, CycleKind kind) {
  Recorder recorder(levels);
  cycle(recorder, kind, 0, true);
  return recorder.take();
}

}  // namespace trireme::multigrid
