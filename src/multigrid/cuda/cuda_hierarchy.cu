// SPDX-License-Identifier: BSD-3-Clause
// Brings the levels to the GPU, gives addresses to the steps of a cycle, and queues them.
#include "multigrid/cuda/cuda_hierarchy.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "multigrid/cuda/cuda_rows.hpp"
#include "multigrid/cuda/cuda_steps.hpp"
#include "multigrid/cuda/step_borders.hpp"
#include "multigrid/cycle_program.hpp"

namespace trireme::multigrid {
namespace {

constexpr std::int64_t kMaxRowsTogether = 65'000;  // so that columns are narrow
constexpr std::int64_t kAlignment = 32;            // of vectors, in numbers

// A level of the host on the GPU. The arrays are freed in the stream.
struct Uploaded {
  template <class T>
  using Scratch = BasicDeviceBuffer<T, Lifetime::stream>;
  struct Matrix {
    Scratch<std::int32_t> row_ptr, col_idx;
    Scratch<double> values;
  };
  Matrix a, p, restriction;
  Scratch<double> inverse, dense_inverse;
  DeviceLevelParts parts;

  Uploaded(const HostLevelParts& level, StreamRef stream) {
    static_cast<LevelNumbers&>(parts) = level;
    parts.a = upload(level.a, a, stream);
    parts.p = upload(level.p, p, stream);
    parts.restriction = upload(level.restriction, restriction, stream);
    parts.inverse = upload(level.inverse, inverse, stream);
    parts.dense_inverse = upload(level.dense_inverse, dense_inverse, stream);
    synchronize(stream);  // the host's arrays may go
  }

  template <class T>
  static DeviceSpan<const T> upload(std::span<const T> from, Scratch<T>& to, StreamRef stream) {
    to = Scratch<T>(from.size(), stream);
    copy_to_device(from, to.span(), stream);
    return to.view();
  }
  static DeviceCsr<double> upload(const CsrView<double>& from, Matrix& to, StreamRef stream) {
    return {from.rows,
            from.cols,
            static_cast<std::int64_t>(from.values.size()),
            upload(from.row_ptr, to.row_ptr, stream),
            upload(from.col_idx, to.col_idx, stream),
            upload(from.values, to.values, stream)};
  }
};

struct StoredLevel {
  LevelNumbers numbers;
  std::int64_t nnz = 0;  // of A
  CudaRows a, p, restriction;
  DeviceBuffer<double> inverse, dense_inverse;
};

}  // namespace

struct CudaHierarchy::Parts {
  // Steps that are one launch.
  struct Launch {
    int first = 0, count = 1;
    bool together = false;
  };

  Stream stream;
  CycleKind cycle;
  CudaCycleOptions options;
  int blocks_together = 0;
  bool overlap = false;
  std::vector<StoredLevel> levels;
  std::vector<CudaLevelFacts> facts;
  DeviceBuffer<double> vectors;
  std::vector<std::array<double*, 5>> vector_of_level;  // in the order of LevelVector; null: none
  std::vector<CycleStep> texts;                         // of the steps
  std::vector<BoundStep> steps;
  DeviceBuffer<BoundStep> steps_on_device;
  DeviceBuffer<unsigned> arrivals;
  std::vector<Launch> launches;

  Parts(CycleKind of, const CudaCycleOptions& asked) : cycle(of), options(asked) {
    blocks_together = multigrid::blocks_together();
    overlap = steps_may_overlap();
    options.rows_together =
        blocks_together > 0 ? std::min(options.rows_together, kMaxRowsTogether) : 0;
    arrivals = DeviceBuffer<unsigned>(1, stream);
    fill_zero(arrivals.span(), stream);
  }

  bool together(std::int64_t rows) const { return rows <= options.rows_together; }
  // Whether level l lies on several ranks.
  bool at_border(int l) const { return options.borders && l < options.borders->levels(); }

  void add(const DeviceLevelParts& level) {
    StoredLevel& to = levels.emplace_back();
    CudaLevelFacts& fact = facts.emplace_back();
    to.numbers = level;
    to.nnz = static_cast<std::int64_t>(level.a.values.size());
    fact.rows = level.rows;
    fact.together = !at_border(static_cast<int>(levels.size()) - 1) && together(level.rows);
    const bool wide = options.wide && !fact.together;
    const auto rows_of = [&](const DeviceCsr<double>& csr, Precision precision, int& lanes) {
      if (csr.rows == 0) return CudaRows();
      CudaRows rows(csr, precision, options.lanes, wide, stream);
      lanes = rows.lanes();
      fact.bytes += rows.bytes();
      return rows;
    };
    to.a = rows_of(level.a, level.precision, fact.lanes_of_a);
    to.p = rows_of(level.p, level.transfer_precision, fact.lanes_of_p);
    to.restriction =
        rows_of(level.restriction, level.transfer_precision, fact.lanes_of_restriction);
    fact.padding_of_a = to.a.padding();
    to.inverse = DeviceBuffer<double>(level.inverse.size(), stream);
    to.dense_inverse = DeviceBuffer<double>(level.dense_inverse.size(), stream);
    fact.bytes +=
        static_cast<std::int64_t>(sizeof(double) * (to.inverse.size() + to.dense_inverse.size()));
    copy_on_device(level.inverse, to.inverse.span(), stream);
    copy_on_device(level.dense_inverse, to.dense_inverse.span(), stream);
  }

  // Whether `given` has levels of these sizes, whose values are stored alike.
  template <class LevelParts>
  bool fits(std::span<const LevelParts> given) const {
    return std::equal(given.begin(), given.end(), levels.begin(), levels.end(),
                      [](const LevelParts& now, const StoredLevel& level) {
                        const LevelNumbers& old = level.numbers;
                        return now.rows == old.rows && now.kind == old.kind &&
                               now.precision == old.precision &&
                               now.transfer_precision == old.transfer_precision &&
                               now.block_size == old.block_size &&
                               now.smoothing.degree == old.smoothing.degree &&
                               static_cast<std::int64_t>(now.a.values.size()) == level.nnz;
                      });
  }

  void renew(std::size_t l, const DeviceLevelParts& level) {
    StoredLevel& to = levels[l];
    to.numbers = level;
    to.a.update_values(level.a, stream);
    to.p.update_values(level.p, stream);
    to.restriction.update_values(level.restriction, stream);
    copy_on_device(level.inverse, to.inverse.span(), stream);
    copy_on_device(level.dense_inverse, to.dense_inverse.span(), stream);
  }

  std::vector<CycleStep> program() const {
    std::vector<ProgramLevel> texts;
    for (const StoredLevel& level : levels)
      texts.push_back({level.numbers.kind, level.numbers.smoothing, level.numbers.block_size});
    return cycle_program(texts, cycle);
  }

  static bool is_callers(const VectorRef& ref) {
    return ref.level == 0 && (ref.vector == LevelVector::b || ref.vector == LevelVector::x);
  }

  // Memory for the vectors that the program uses, but for those of the caller.
  void allocate_vectors(std::span<const CycleStep> program) {
    vector_of_level.assign(levels.size(), {});
    std::vector<std::array<bool, 5>> used(levels.size(), std::array<bool, 5>{});
    for (const CycleStep& step : program)
      for (const VectorRef& ref : {step.x, step.b, step.last, step.d, step.to, step.kept})
        if (ref.vector != LevelVector::none && !is_callers(ref))
          used[ref.level][static_cast<std::size_t>(ref.vector) - 1] = true;
    const auto stride = [&](std::size_t l) {
      return (levels[l].numbers.rows + kAlignment - 1) / kAlignment * kAlignment;
    };
    std::int64_t all = 0;
    for (std::size_t l = 0; l < levels.size(); ++l)
      all += stride(l) * std::count(used[l].begin(), used[l].end(), true);
    vectors = DeviceBuffer<double>(all, stream);
    fill_zero(vectors.span(), stream);
    double* next = vectors.data();
    for (std::size_t l = 0; l < levels.size(); ++l)
      for (std::size_t v = 0; v < used[l].size(); ++v) {
        if (!used[l][v]) continue;
        vector_of_level[l][v] = next;
        next += stride(l);
      }
  }

  // Null for the caller's vectors, and for none.
  double* at(const VectorRef& ref) const {
    if (ref.vector == LevelVector::none) return nullptr;
    return vector_of_level[ref.level][static_cast<std::size_t>(ref.vector) - 1];
  }

  BoundStep bound(const CycleStep& step) const {
    const StoredLevel& level = levels[step.level];
    BoundStep to;
    to.data.kind = step.kind;
    to.data.from_zero = step.from_zero ? 1 : 0;
    to.data.rows = level.numbers.rows;
    to.data.block_size = level.numbers.block_size;
    to.data.f = step.f;
    to.data.g = step.g;
    to.data.start = step.start;
    to.data.x = at(step.x);
    to.data.b = at(step.b);
    to.data.w = step.kind == StepKind::solve ? level.dense_inverse.data() : level.inverse.data();
    to.data.last = at(step.last);
    to.data.d = at(step.d);
    to.data.to = at(step.to);
    to.data.kept = at(step.kept);
    if (step.matrix == StepMatrix::a) to.matrix = level.a.view();
    if (step.matrix == StepMatrix::prolongator) to.matrix = level.p.view();
    if (step.matrix == StepMatrix::restriction) to.matrix = level.restriction.view();
    if (step.matrix != StepMatrix::none) to.data.rows = to.matrix.rows;
    return to;
  }

  // Gives addresses to the steps, and gathers those of small levels.
  void bind() {
    texts = program();
    if (vector_of_level.empty()) allocate_vectors(texts);
    steps.clear();
    launches.clear();
    for (const CycleStep& step : texts) {
      const bool small = facts[step.level].together;
      if (small && !launches.empty() && launches.back().together)
        ++launches.back().count;
      else
        launches.push_back({static_cast<int>(steps.size()), 1, small});
      steps.push_back(bound(step));
      if (at_border(step.level)) options.borders->bind(step, steps.back());
    }
    if (steps_on_device.size() != steps.size())
      steps_on_device = DeviceBuffer<BoundStep>(steps.size(), stream);
    copy_to_device(std::span<const BoundStep>(steps), steps_on_device.span(), stream);
    stream.synchronize();
  }

  void enqueue(const CallersVectors& callers, StreamRef into) const {
    bool after_launch =
        false;  // only a step of this cycle is known to be a kernel of the usual kind
    for (const Launch& launch : launches) {
      const CycleStep& text = texts[launch.first];
      const bool border = at_border(text.level) && text.matrix != StepMatrix::none;
      if (border) {
        options.borders->before(text, steps[launch.first], callers, into);
        launch_step(steps[launch.first], callers, false, into);
        options.borders->after(text, steps[launch.first], callers, into);
      } else if (launch.together)
        launch_together(steps_on_device.data() + launch.first, launch.count, callers,
                        arrivals.data(), blocks_together, into);
      else
        launch_step(steps[launch.first], callers, overlap && after_launch, into);
      after_launch = !launch.together && !border;
    }
  }
};

CudaHierarchy::CudaHierarchy(std::span<const HostLevelParts> levels, CycleKind cycle,
                             const CudaCycleOptions& options)
    : parts_(std::make_unique<Parts>(cycle, options)) {
  for (const HostLevelParts& level : levels) parts_->add(Uploaded(level, parts_->stream).parts);
  parts_->bind();
}

CudaHierarchy::CudaHierarchy(std::span<const DeviceLevelParts> levels, CycleKind cycle,
                             const CudaCycleOptions& options)
    : parts_(std::make_unique<Parts>(cycle, options)) {
  for (const DeviceLevelParts& level : levels) parts_->add(level);
  parts_->bind();
}

CudaHierarchy::~CudaHierarchy() = default;

bool CudaHierarchy::renew(std::span<const HostLevelParts> levels) {
  if (!parts_->fits(levels)) return false;
  for (std::size_t l = 0; l < levels.size(); ++l)
    parts_->renew(l, Uploaded(levels[l], parts_->stream).parts);
  parts_->bind();
  return true;
}

bool CudaHierarchy::renew(std::span<const DeviceLevelParts> levels) {
  if (!parts_->fits(levels)) return false;
  for (std::size_t l = 0; l < levels.size(); ++l) parts_->renew(l, levels[l]);
  parts_->bind();
  return true;
}

void CudaHierarchy::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z,
                            StreamRef stream) const {
  if (rows() > 0 || parts_->options.borders) parts_->enqueue({r.data(), z.data()}, stream);
}

std::int64_t CudaHierarchy::rows() const { return parts_->levels.front().numbers.rows; }
int CudaHierarchy::launches() const { return static_cast<int>(parts_->launches.size()); }
int CudaHierarchy::steps() const { return static_cast<int>(parts_->steps.size()); }
const std::vector<CudaLevelFacts>& CudaHierarchy::levels() const { return parts_->facts; }

double CudaHierarchy::measure_product_us(int level, int products) const {
  const StoredLevel& of = parts_->levels[level];
  if (of.a.rows() == 0) return 0;
  const Stream& stream = parts_->stream;
  const DeviceBuffer<double> x(of.a.rows(), stream), y(of.a.rows(), stream);
  fill_zero(x.span(), stream);
  BoundStep step;
  step.matrix = of.a.view();
  step.data.rows = of.a.rows();
  step.data.x = x.data();
  step.data.to = y.data();
  const Event start, stop;
  launch_step(step, {}, false, stream);
  start.record(stream);
  for (int k = 0; k < products; ++k) launch_step(step, {}, false, stream);
  stop.record(stream);
  stop.synchronize();
  return microseconds_between(start, stop) / products;
}

std::int64_t CudaHierarchy::bytes() const {
  auto sum = static_cast<std::int64_t>(parts_->vectors.size() * sizeof(double));
  for (const CudaLevelFacts& level : parts_->facts) sum += level.bytes;
  return sum;
}

}  // namespace trireme::multigrid
