// SPDX-License-Identifier: BSD-3-Clause
// The executor that writes down the steps of a cycle.
#include "multigrid/cycle_program.hpp"

#include <optional>

namespace trireme::multigrid {
namespace {

class Recorder;

// The executor of one level. The addresses in the text stand for vectors and are never read.
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
      : texts_(levels.size()), states_(levels.size()) {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      CycleLevel& text = texts_[l];
      text.kind = levels[l].kind;
      text.smoothing = levels[l].smoothing;
      text.block_size = levels[l].block_size;
      text.x = &names_[0];
      text.d = &names_[1];
      text.q = &names_[2];
      text.b = &names_[3];
    }
  }

  int levels() const { return static_cast<int>(texts_.size()); }
  const CycleLevel& level(int l) const { return texts_[l]; }
  LevelRecorder on(int l) { return {*this, l}; }

  void restrict_from(int l, const double* /*r*/) {
    add({.kind = StepKind::product,
         .matrix = StepMatrix::restriction,
         .level = l,
         .x = {l, LevelVector::q},
         .to = {l + 1, LevelVector::b}});
  }
  void correct(int l) {
    complete(l + 1);
    add({.kind = StepKind::correct,
         .matrix = StepMatrix::prolongator,
         .level = l,
         .x = x_of(l + 1),
         .to = x_of(l)});
  }
  void solve(int l) {
    states_[l].from_zero.reset();
    add({.kind = StepKind::solve, .level = l, .b = {l, LevelVector::b}, .to = x_of(l)});
  }

  // Writes x of a smoothing whose first step is only noted so far.
  void complete(int l) {
    LevelState& state = states_[l];
    if (!state.from_zero) return;
    add({.kind = StepKind::start,
         .level = l,
         .g = *state.from_zero,
         .b = {l, LevelVector::b},
         .to = x_of(l)});
    state.from_zero.reset();
  }

  std::vector<CycleStep> take() {
    complete(0);
    if (x_of(0).vector == LevelVector::twin) exchange_finest();
    return std::move(steps_);
  }

 private:
  friend class LevelRecorder;

  struct LevelState {
    std::optional<double> from_zero;  // x is this number times W b, and nobody has written it yet
    bool in_twin = false;             // where x is
  };

  void add(const CycleStep& step) { steps_.push_back(step); }

  VectorRef x_of(int l) const {
    return {l, states_[l].in_twin ? LevelVector::twin : LevelVector::x};
  }

  // The finest level begins in the other vector, so that it ends in x.
  void exchange_finest() {
    for (CycleStep& step : steps_)
      for (VectorRef* ref : {&step.x, &step.last, &step.to, &step.kept}) {
        if (ref->level != 0) continue;
        if (ref->vector == LevelVector::x)
          ref->vector = LevelVector::twin;
        else if (ref->vector == LevelVector::twin)
          ref->vector = LevelVector::x;
      }
  }

  double names_[4] = {};
  std::vector<CycleLevel> texts_;
  std::vector<LevelState> states_;
  std::vector<CycleStep> steps_;
};

// The pass that follows takes the product with it. A pass by dense blocks reads the products of
// other rows and is therefore a step of its own.
void LevelRecorder::product(const double* /*x*/, double* /*q*/) {
  if (all_.texts_[level_].block_size > 1) all_.complete(level_);
}

void LevelRecorder::pass(const Residual& /*p*/) {
  Recorder::LevelState& state = all_.states_[level_];
  CycleStep step{.kind = StepKind::residual,
                 .matrix = StepMatrix::a,
                 .level = level_,
                 .b = {level_, LevelVector::b},
                 .to = {level_, LevelVector::q}};
  if (state.from_zero) {
    step.from_zero = true;
    step.start = *state.from_zero;
    step.kept = all_.x_of(level_);
    state.from_zero.reset();
  } else {
    step.x = all_.x_of(level_);
  }
  all_.add(step);
}

template <class Inverse>
void LevelRecorder::pass(const SmoothFromZero<Inverse>& p) {
  all_.states_[level_].from_zero = p.g;
}

template <class Inverse, bool first, bool final>
void LevelRecorder::pass(const SmoothStep<Inverse, first, final>& p) {
  Recorder::LevelState& state = all_.states_[level_];
  const VectorRef d{level_, LevelVector::d};
  const bool after_start = !first && p.last == all_.texts_[level_].x;
  CycleStep step{.kind = StepKind::smooth,
                 .matrix = StepMatrix::a,
                 .level = level_,
                 .f = p.f,
                 .g = p.g,
                 .b = {level_, LevelVector::b}};
  if (!final) step.d = d;
  if (all_.texts_[level_].block_size > 1) {
    const VectorRef q{level_, LevelVector::q};
    all_.add({.kind = StepKind::product,
              .matrix = StepMatrix::a,
              .level = level_,
              .x = all_.x_of(level_),
              .to = q});
    step.kind = StepKind::smooth_blocks;
    step.matrix = StepMatrix::none;
    step.x = q;
    step.to = all_.x_of(level_);
    if (!first) step.last = after_start ? step.to : d;
    return all_.add(step);
  }
  if (state.from_zero) {
    step.from_zero = true;
    step.start = *state.from_zero;
    if (first) step.f = 0;
    step.to = all_.x_of(level_);
    state.from_zero.reset();
    return all_.add(step);
  }
  step.x = all_.x_of(level_);
  if (!first) step.last = d;
  state.in_twin = !state.in_twin;
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
