// SPDX-License-Identifier: BSD-3-Clause
// Brings the borders to the GPU, and queues what they need around each step.
#include "multigrid/cuda/rank_borders.hpp"

#include <span>

#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

// A null address of a step stands for a vector of the caller.
StepData with_callers(StepData s, const CallersVectors& callers) {
  if (!s.b) s.b = callers.r;
  if (!s.x) s.x = callers.z;
  if (!s.to) s.to = callers.z;
  return s;
}

DeviceSpan<const double> rows_at(const double* vector, std::int64_t rows) {
  return {vector, static_cast<std::size_t>(rows)};
}

template <class T>
std::int64_t bytes_of(const DeviceBuffer<T>& buffer) {
  return static_cast<std::int64_t>(buffer.size() * sizeof(T));
}

}  // namespace

void RankBorders::Border::set(const BorderRows& from, StreamRef stream) {
  rows = to_device(std::span<const std::int32_t>(from.rows), stream);
  row_ptr = to_device(std::span<const std::int32_t>(from.row_ptr), stream);
  columns = to_device(std::span<const std::int32_t>(from.columns), stream);
  values = to_device(std::span<const double>(from.values), stream);
  view.count = static_cast<std::int32_t>(from.rows.size());
  view.lanes_shift = 0;
  constexpr int kMaxShift = 5;
  while (view.lanes_shift < kMaxShift &&
         (std::int64_t{view.count} << (view.lanes_shift + 1)) <= std::ssize(from.values))
    ++view.lanes_shift;
  view.rows = rows.data();
  view.row_ptr = row_ptr.data();
  view.columns = columns.data();
  view.values = values.data();
}

std::int64_t RankBorders::Border::bytes() const {
  return bytes_of(rows) + bytes_of(row_ptr) + bytes_of(columns) + bytes_of(values);
}

RankBorders::RankBorders(MPI_Comm comm, const std::vector<RankLevel>& levels,
                         const MakeExchange& make_exchange)
    : comm_(comm) {
  for (const RankLevel& from : levels) {
    LevelBorders& to = *levels_.emplace_back(std::make_unique<LevelBorders>());
    collectively(comm, [&] {
      to.halo = from.halo;
      to.p_halo = from.p_halo;
      to.back = from.back;
      to.gather = from.gathering.plan;
      set(to, from);
    });
    to.a_exchange = make_exchange(comm, to.halo);
    if (from.to_whole) {
      to.terms_exchange = make_exchange(comm, to.gather);
    } else if (&from != &levels.back()) {
      to.p_exchange = make_exchange(comm, to.p_halo);
      to.terms_exchange = make_exchange(comm, to.back);
    }
    find_ghost_inverse(to, from);
  }
}

void RankBorders::set(LevelBorders& to, const RankLevel& from) {
  to.rows = from.parts.rows;
  to.to_whole = from.to_whole;
  to.a.set(from.a, stream_);
  to.p.set(from.p, stream_);
  to.others.set(from.others, stream_);
  to.received.set(from.received, stream_);
  const std::size_t terms =
      from.to_whole ? static_cast<std::size_t>(from.gathering.terms) : from.others.rows.size();
  if (to.terms.size() != terms) to.terms = DeviceBuffer<double>(terms, stream_);
  to.coarse_rows = from.parts.p.cols;
  to.sum_row_ptr = to_device(std::span<const std::int32_t>(from.gathering.row_ptr), stream_);
  to.sources = to_device(std::span<const std::int32_t>(from.gathering.sources), stream_);
  to.gathering = {.rows = std::ssize(from.gathering.row_ptr) - 1,
                  .terms = from.gathering.terms,
                  .row_ptr = to.sum_row_ptr.data(),
                  .sources = to.sources.data()};
  stream_.synchronize();  // the host's arrays may go
}

// Collective.
void RankBorders::find_ghost_inverse(LevelBorders& level, const RankLevel& from) {
  if (from.parts.block_size > 1) return;
  DeviceBuffer<double> own;
  collectively(comm_, [&] {
    own = to_device(from.parts.inverse, stream_);
    level.ghost_inverse = DeviceBuffer<double>(level.halo.ghosts, stream_);
  });
  level.a_exchange->send(own.view(), stream_);
  const DeviceSpan<const double> ghosts = level.a_exchange->receive(stream_);
  if (level.halo.ghosts > 0) copy_on_device(ghosts, level.ghost_inverse.span(), stream_);
  stream_.synchronize();
}

void RankBorders::renew(const std::vector<RankLevel>& levels) {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    collectively(comm_, [&] { set(*levels_[l], levels[l]); });
    find_ghost_inverse(*levels_[l], levels[l]);
  }
}

void RankBorders::check() const {
  for (const auto& level : levels_)
    for (const auto* exchange :
         {level->a_exchange.get(), level->p_exchange.get(), level->terms_exchange.get()})
      if (exchange) exchange->check();
}

std::int64_t RankBorders::bytes() const {
  std::int64_t sum = 0;
  for (const auto& level : levels_) {
    for (const Border* border : {&level->a, &level->p, &level->others, &level->received})
      sum += border->bytes();
    sum += bytes_of(level->ghost_inverse) + bytes_of(level->terms) + bytes_of(level->sum_row_ptr) +
           bytes_of(level->sources);
  }
  return sum;
}

void RankBorders::bind(const CycleStep& step, BoundStep& bound) {
  LevelBorders& level = *levels_[step.level];
  if (step.matrix != StepMatrix::restriction || !level.to_whole) return;
  level.whole = bound.data.to;
  bound.data.to = level.terms.data();
}

void RankBorders::before(const CycleStep& step, const BoundStep& bound,
                         const CallersVectors& callers, StreamRef stream) {
  LevelBorders& level = *levels_[step.level];
  const StepData s = with_callers(bound.data, callers);
  switch (step.matrix) {
    case StepMatrix::a:
      return level.a_exchange->send(rows_at(s.from_zero ? s.b : s.x, level.rows), stream);
    case StepMatrix::prolongator:
      if (!level.to_whole) level.p_exchange->send(rows_at(s.x, level.coarse_rows), stream);
      return;
    case StepMatrix::restriction:
      if (!level.to_whole)
        send_products(level.others.view, s.x, level.terms.span(), *level.terms_exchange, stream);
      return;
    case StepMatrix::none:
      return;
  }
}

void RankBorders::after(const CycleStep& step, const BoundStep& bound,
                        const CallersVectors& callers, StreamRef stream) {
  LevelBorders& level = *levels_[step.level];
  const StepData s = with_callers(bound.data, callers);
  switch (step.matrix) {
    case StepMatrix::a:
      return complete_step(level.a.view, s, level.ghost_inverse.data(), *level.a_exchange, stream);
    case StepMatrix::prolongator:
      if (!level.to_whole) complete_step(level.p.view, s, nullptr, *level.p_exchange, stream);
      return;
    case StepMatrix::restriction:
      if (level.to_whole)
        return gather_terms(level.gathering, level.terms.view(), level.whole, *level.terms_exchange,
                            stream);
      return complete_step(level.received.view, s, nullptr, *level.terms_exchange, stream);
    case StepMatrix::none:
      return;
  }
}

}  // namespace trireme::multigrid
