// SPDX-License-Identifier: BSD-3-Clause
// Brings the levels to the GPU, gives addresses to the steps of a cycle, and queues them.
#include "multigrid/cuda/cuda_hierarchy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "multigrid/cuda/cuda_rows.hpp"
#include "multigrid/cuda/cuda_steps.hpp"
#include "multigrid/cuda/cycle_vectors.hpp"
#include "multigrid/cuda/step_borders.hpp"
#include "multigrid/cuda/uploaded_level.hpp"
#include "multigrid/cycle/cycle_program.hpp"

namespace trireme::multigrid {
namespace {

constexpr std::int64_t kAlignment = 32;  // of vectors, in numbers
constexpr int kThreads = 256;

template <class Number>
struct StoredLevel {
  CudaRows a, p, restriction;
  DeviceBuffer<Number> inverse, dense_inverse;
};

std::int64_t with_whole_packs(std::int64_t rows) {
  return (rows + kAlignment - 1) / kAlignment * kAlignment;
}

unsigned blocks_for(std::size_t threads) {
  return static_cast<unsigned>(std::max<std::size_t>(1, (threads + kThreads - 1) / kThreads));
}

template <class Number>
__global__ void round_numbers(DeviceSpan<const double> from, Number* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < from.size()) to[i] = static_cast<Number>(from.data()[i]);
}

}  // namespace

// The levels with vectors of one type.
struct CudaHierarchy::Parts {
  Stream stream;
  CycleKind cycle;
  CudaCycleOptions options;
  bool overlap = false;
  std::vector<CudaLevelFacts> facts;
  std::vector<CycleStep> recorded;
  std::int64_t vector_bytes = 0;
  DeviceBuffer<CycleExponent> exponent;
  bool single;  // vectors
  std::vector<LevelNumbers> numbers;
  std::vector<std::int64_t> nnz;  // of A

  Parts(CycleKind of, const CudaCycleOptions& asked, bool fp32)
      : cycle(of), options(asked), single(fp32) {
    overlap = steps_may_overlap();
    exponent = DeviceBuffer<CycleExponent>(1, stream);
    fill_zero(exponent.span(), stream);
  }
  virtual ~Parts() = default;

  // Whether `given` has levels of these sizes, whose values are stored alike.
  template <class LevelParts>
  bool fits(std::span<const LevelParts> given) const {
    if (given.size() != numbers.size()) return false;
    if (single && options.vectors == CycleVectors::automatic && !serves_in_fp32(given, stream))
      return false;
    for (std::size_t l = 0; l < given.size(); ++l) {
      const LevelNumbers &now = given[l], &old = numbers[l];
      if (now.rows != old.rows || now.kind != old.kind || now.precision != old.precision ||
          now.transfer_precision != old.transfer_precision || now.block_size != old.block_size ||
          now.smoothing.degree != old.smoothing.degree ||
          static_cast<std::int64_t>(given[l].a.values.size()) != nnz[l])
        return false;
    }
    return true;
  }

  virtual void add(const DeviceLevelParts& level) = 0;
  virtual void renew(std::size_t l, const DeviceLevelParts& level) = 0;
  // Gives addresses to the steps. Called after the last add() or renew(); waits for both.
  virtual void bind() = 0;
  virtual void enqueue(const CallersVectors& callers, StreamRef into) const = 0;
  virtual double measure_product_us(int level, int products) const = 0;
};

namespace {

template <class Number>
struct PartsOf final : CudaHierarchy::Parts {
  static constexpr bool kSingle = sizeof(Number) == sizeof(float);

  std::vector<StoredLevel<Number>> levels;
  DeviceBuffer<Number> vectors;
  std::vector<std::array<Number*, 5>> vector_of_level;  // in the order of LevelVector; null: none
  std::vector<BoundStepOf<Number>> steps;

  PartsOf(CycleKind of, const CudaCycleOptions& asked) : Parts(of, asked, kSingle) {}

  // Whether level l lies on several ranks.
  bool at_border(std::size_t l) const {
    return options.borders && l < static_cast<std::size_t>(options.borders->levels());
  }

  void add(const DeviceLevelParts& level) override {
    StoredLevel<Number>& to = levels.emplace_back();
    CudaLevelFacts& fact = facts.emplace_back();
    numbers.push_back(level);
    nnz.push_back(static_cast<std::int64_t>(level.a.values.size()));
    fact.rows = level.rows;
    const bool allow_half = single;
    const auto rows_of = [&](const DeviceCsr<double>& csr, Precision precision, int& lanes) {
      if (csr.rows == 0) return CudaRows();
      CudaRows rows(csr, precision, options.lanes, options.wide, allow_half && csr.rows == csr.cols,
                    stream);
      lanes = rows.lanes();
      fact.bytes += rows.bytes();
      return rows;
    };
    to.a = rows_of(level.a, level.precision, fact.lanes_of_a);
    to.p = rows_of(level.p, level.transfer_precision, fact.lanes_of_p);
    to.restriction =
        rows_of(level.restriction, level.transfer_precision, fact.lanes_of_restriction);
    fact.padding_of_a = to.a.padding();
    fact.stored_of_a = to.a.view().stored;
    const auto room = [&](DeviceSpan<const double> from) {
      const std::int64_t count = with_whole_packs(static_cast<std::int64_t>(from.size()));
      DeviceBuffer<Number> buffer(count, stream);
      fill_zero(buffer.span(), stream);
      fact.bytes += count * static_cast<std::int64_t>(sizeof(Number));
      return buffer;
    };
    to.inverse = room(level.inverse);
    to.dense_inverse = room(level.dense_inverse);
    copy_inverses(to, level);
  }

  void copy_inverses(StoredLevel<Number>& to, const DeviceLevelParts& level) {
    const auto copy = [&](DeviceSpan<const double> from, DeviceBuffer<Number>& into) {
      if (from.empty()) return;
      round_numbers<<<blocks_for(from.size()), kThreads, 0, stream>>>(from, into.data());
      check_launch();
    };
    copy(level.inverse, to.inverse);
    copy(level.dense_inverse, to.dense_inverse);
  }

  void renew(std::size_t l, const DeviceLevelParts& level) override {
    StoredLevel<Number>& to = levels[l];
    numbers[l] = level;
    to.a.update_values(level.a, stream);
    facts[l].stored_of_a = to.a.view().stored;
    to.p.update_values(level.p, stream);
    to.restriction.update_values(level.restriction, stream);
    copy_inverses(to, level);
  }

  std::vector<CycleStep> program() const {
    std::vector<ProgramLevel> of;
    for (const LevelNumbers& level : numbers)
      of.push_back({.kind = level.kind,
                    .smoothing = level.smoothing,
                    .block_size = level.block_size,
                    .restricts_alone = !at_border(of.size())});
    return cycle_program(of, cycle);
  }

  // Memory for the vectors that the program uses.
  void allocate_vectors() {
    vector_of_level.assign(levels.size(), {});
    std::vector<std::array<bool, 5>> used(levels.size(), std::array<bool, 5>{});
    for (const CycleStep& step : recorded)
      for (const VectorRef& ref : {step.x, step.b, step.last, step.d, step.to, step.kept})
        if (ref.vector != LevelVector::none)
          used[ref.level][static_cast<std::size_t>(ref.vector) - 1] = true;
    const auto stride = [&](std::size_t l) { return with_whole_packs(numbers[l].rows); };
    std::int64_t all = 0;
    for (std::size_t l = 0; l < levels.size(); ++l)
      all += stride(l) * std::count(used[l].begin(), used[l].end(), true);
    vectors = DeviceBuffer<Number>(all, stream);
    vector_bytes = all * static_cast<std::int64_t>(sizeof(Number));
    fill_zero(vectors.span(), stream);
    Number* next = vectors.data();
    for (std::size_t l = 0; l < levels.size(); ++l)
      for (std::size_t v = 0; v < used[l].size(); ++v) {
        if (!used[l][v]) continue;
        vector_of_level[l][v] = next;
        next += stride(l);
      }
  }

  Number* at(const VectorRef& ref) const {
    if (ref.vector == LevelVector::none) return nullptr;
    return vector_of_level[ref.level][static_cast<std::size_t>(ref.vector) - 1];
  }

  BoundStepOf<Number> bound(const CycleStep& step) const {
    const StoredLevel<Number>& level = levels[step.level];
    const StoredLevel<Number>& of_w = levels[step.w_level];
    BoundStepOf<Number> to;
    to.data.kind = step.kind;
    to.data.ends = step.ends;
    to.data.rows = numbers[step.level].rows;
    to.data.block_size = numbers[step.w_level].block_size;
    to.data.f = static_cast<Number>(step.f);
    to.data.g = static_cast<Number>(step.g);
    to.data.x = at(step.x);
    to.data.b = at(step.b);
    to.data.last = at(step.last);
    to.data.d = at(step.d);
    to.data.to = at(step.to);
    to.data.kept = at(step.kept);
    const bool takes_alone = step.kind == StepKind::take && !to.data.to;
    to.data.w = step.kind == StepKind::solve ? level.dense_inverse.data()
                : takes_alone                ? nullptr
                                             : of_w.inverse.data();
    if (step.matrix == StepMatrix::a) to.matrix = level.a.view();
    if (step.matrix == StepMatrix::prolongator) to.matrix = level.p.view();
    if (step.matrix == StepMatrix::restriction) to.matrix = level.restriction.view();
    if (step.matrix != StepMatrix::none) to.data.rows = to.matrix.rows;
    return to;
  }

  void bind() override {
    recorded = program();
    if (vector_of_level.empty()) allocate_vectors();
    steps.clear();
    for (const CycleStep& step : recorded) {
      steps.push_back(bound(step));
      if (at_border(step.level)) options.borders->bind(step, steps.back());
    }
    stream.synchronize();
  }

  void enqueue(const CallersVectors& callers, StreamRef into) const override {
    // FP32 vectors need a scale: by the norm that the caller knows, or by the numbers of r.
    CycleExponent* const scaled = single ? exponent.data() : nullptr;
    const bool searched = scaled && !callers.hints.norm;
    const std::int64_t rows = numbers.front().rows;
    if (searched) launch_find_exponent(callers.r, rows, scaled, into);
    if (searched && options.borders) options.borders->agree_on(scaled, rows, into);
    // Only a step of this cycle is known to be a kernel that waits for its predecessor.
    bool after_launch = searched && !options.borders;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const CycleStep& step = recorded[k];
      const bool border = at_border(step.level) && step.matrix != StepMatrix::none;
      if (border) options.borders->before(step, steps[k], into);
      launch_step(steps[k], callers, scaled, overlap && after_launch && !border, into);
      if (border) options.borders->after(step, steps[k], callers, scaled, into);
      after_launch = !border;
    }
  }

  double measure_product_us(int level, int products) const override {
    const StoredLevel<Number>& of = levels[level];
    if (of.a.rows() == 0) return 0;
    const std::int64_t rows = with_whole_packs(of.a.rows());
    const DeviceBuffer<Number> x(rows, stream), y(rows, stream);
    fill_zero(x.span(), stream);
    BoundStepOf<Number> step;
    step.matrix = of.a.view();
    step.data.rows = of.a.rows();
    step.data.x = x.data();
    step.data.to = y.data();
    const Event start, stop;
    launch_step(step, {}, nullptr, false, stream);
    start.record(stream);
    for (int k = 0; k < products; ++k) launch_step(step, {}, nullptr, false, stream);
    stop.record(stream);
    stop.synchronize();
    return microseconds_between(start, stop) / products;
  }
};

template <class LevelParts>
std::unique_ptr<CudaHierarchy::Parts> make_parts(std::span<const LevelParts> levels,
                                                 CycleKind cycle, const CudaCycleOptions& options) {
  const Stream stream;
  if (options.vectors == CycleVectors::automatic ? serves_in_fp32(levels, stream)
                                                 : options.vectors == CycleVectors::fp32)
    return std::make_unique<PartsOf<float>>(cycle, options);
  return std::make_unique<PartsOf<double>>(cycle, options);
}

}  // namespace

CudaHierarchy::CudaHierarchy(std::span<const HostLevelParts> levels, CycleKind cycle,
                             const CudaCycleOptions& options)
    : parts_(make_parts(levels, cycle, options)) {
  for (const HostLevelParts& level : levels)
    parts_->add(UploadedLevel(level, parts_->stream).parts);
  parts_->bind();
}

CudaHierarchy::CudaHierarchy(std::span<const DeviceLevelParts> levels, CycleKind cycle,
                             const CudaCycleOptions& options)
    : parts_(make_parts(levels, cycle, options)) {
  for (const DeviceLevelParts& level : levels) parts_->add(level);
  parts_->bind();
}

CudaHierarchy::~CudaHierarchy() = default;

bool CudaHierarchy::renew(std::span<const HostLevelParts> levels) {
  if (!parts_->fits(levels)) return false;
  for (std::size_t l = 0; l < levels.size(); ++l)
    parts_->renew(l, UploadedLevel(levels[l], parts_->stream).parts);
  parts_->bind();
  return true;
}

bool CudaHierarchy::renew(std::span<const DeviceLevelParts> levels) {
  if (!parts_->fits(levels)) return false;
  for (std::size_t l = 0; l < levels.size(); ++l) parts_->renew(l, levels[l]);
  parts_->bind();
  return true;
}

void CudaHierarchy::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream,
                            const solvers::LoopHints& hints) const {
  if (rows() > 0 || parts_->options.borders) parts_->enqueue({r.data(), z.data(), hints}, stream);
}

std::int64_t CudaHierarchy::rows() const { return parts_->facts.front().rows; }
int CudaHierarchy::steps() const { return static_cast<int>(parts_->recorded.size()); }
const std::vector<CudaLevelFacts>& CudaHierarchy::levels() const { return parts_->facts; }

double CudaHierarchy::measure_product_us(int level, int products) const {
  return parts_->measure_product_us(level, products);
}

std::int64_t CudaHierarchy::bytes() const {
  std::int64_t sum = parts_->vector_bytes;
  for (const CudaLevelFacts& level : parts_->facts) sum += level.bytes;
  return sum;
}

}  // namespace trireme::multigrid
