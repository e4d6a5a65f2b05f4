// SPDX-License-Identifier: BSD-3-Clause
// Brings the borders to the GPU, and queues what they need around each step.
#include "multigrid/cuda/rank_borders.hpp"

#include <span>

#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

template <class Number>
DeviceSpan<const Number> rows_at(const Number* vector, std::int64_t rows) {
  return {vector, static_cast<std::size_t>(rows)};
}

// Takes one number of each rank to all others.
HaloPlan plan_to_all(MPI_Comm comm) {
  HaloPlan plan;
  for (int rank = 0; rank < size_of(comm); ++rank) {
    if (rank == rank_of(comm)) continue;
    plan.sends.push_back({rank, plan.ghosts, 1});
    plan.receives.push_back({rank, plan.ghosts++, 1});
    plan.send_rows.push_back(0);
  }
  return plan;
}

template <class T>
std::int64_t bytes_of(const DeviceBuffer<T>& buffer) {
  return static_cast<std::int64_t>(buffer.size() * sizeof(T));
}

}  // namespace

void RankBorders::Border::set(const BorderRows& from, Uploader& uploader, StreamRef stream) {
  rows = uploader.to_device(std::span<const std::int32_t>(from.rows), stream);
  row_ptr = uploader.to_device(std::span<const std::int32_t>(from.row_ptr), stream);
  columns = uploader.to_device(std::span<const std::int32_t>(from.columns), stream);
  values = uploader.to_device(std::span<const double>(from.values), stream);
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
    : comm_(comm), to_all_(plan_to_all(comm)) {
  collectively(comm, [&] { number_ = DeviceBuffer<double>(1, stream_); });
  to_all_exchange_ = make_exchange(comm, to_all_);
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
  }
}

void RankBorders::set(LevelBorders& to, const RankLevel& from) {
  to.rows = from.parts.rows;
  to.to_whole = from.to_whole;
  Uploader uploader;
  to.a.set(from.a, uploader, stream_);
  to.p.set(from.p, uploader, stream_);
  to.others.set(from.others, uploader, stream_);
  to.received.set(from.received, uploader, stream_);
  constexpr std::size_t kWholePack = 32;  // steps write whole packs of rows
  const std::size_t terms =
      from.to_whole ? static_cast<std::size_t>(from.gathering.terms) : from.others.rows.size();
  if (to.terms.size() != terms + kWholePack) {
    to.terms = DeviceBuffer<double>(terms + kWholePack, stream_);
    fill_zero(to.terms.span(), stream_);
  }
  to.coarse_rows = from.parts.p.cols;
  to.sum_row_ptr = to_device(std::span<const std::int32_t>(from.gathering.row_ptr), stream_);
  to.sources = to_device(std::span<const std::int32_t>(from.gathering.sources), stream_);
  to.gathering = {.rows = std::ssize(from.gathering.row_ptr) - 1,
                  .terms = from.gathering.terms,
                  .row_ptr = to.sum_row_ptr.data(),
                  .sources = to.sources.data()};
  stream_.synchronize();  // the host's arrays may go
}

void RankBorders::renew(const std::vector<RankLevel>& levels) {
  collectively(comm_, [&] {
    for (std::size_t l = 0; l < levels.size(); ++l) set(*levels_[l], levels[l]);
  });
}

void RankBorders::check() const {
  to_all_exchange_->check();
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
    sum += bytes_of(level->terms) + bytes_of(level->sum_row_ptr) + bytes_of(level->sources);
  }
  return sum;
}

template <class Number>
void RankBorders::bind_any(const CycleStep& step, BoundStepOf<Number>& bound) {
  LevelBorders& level = *levels_[step.level];
  if (step.matrix != StepMatrix::restriction || !level.to_whole) return;
  level.whole = bound.data.to;
  bound.data.to = reinterpret_cast<Number*>(level.terms.data());
}

void RankBorders::agree_on(CycleExponent* exponent, std::int64_t rows, StreamRef stream) {
  find_largest_exponent(exponent, rows, number_.span(), *to_all_exchange_, size_of(comm_), stream);
}

template <class Number>
void RankBorders::before_any(const CycleStep& step, const StepDataOf<Number>& s, StreamRef stream) {
  LevelBorders& level = *levels_[step.level];
  switch (step.matrix) {
    case StepMatrix::a:
      return level.a_exchange->send(rows_at(s.x, level.rows), stream);
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

template <class Number>
void RankBorders::after_any(const CycleStep& step, StepDataOf<Number> s,
                            const CallersVectors& callers, const CycleExponent* exponent,
                            StreamRef stream) {
  LevelBorders& level = *levels_[step.level];
  s.z = callers.z;
  switch (step.matrix) {
    case StepMatrix::a:
      return complete_step(level.a.view, s, exponent, *level.a_exchange, stream);
    case StepMatrix::prolongator:
      if (!level.to_whole) complete_step(level.p.view, s, exponent, *level.p_exchange, stream);
      return;
    case StepMatrix::restriction:
      if (level.to_whole)
        return gather_terms(level.gathering, rows_at<Number>(s.to, level.gathering.terms),
                            static_cast<Number*>(level.whole), *level.terms_exchange, stream);
      return complete_step(level.received.view, s, exponent, *level.terms_exchange, stream);
    case StepMatrix::none:
      return;
  }
}

template void RankBorders::bind_any(const CycleStep&, BoundStepOf<float>&);
template void RankBorders::bind_any(const CycleStep&, BoundStepOf<double>&);
template void RankBorders::before_any(const CycleStep&, const StepDataOf<float>&, StreamRef);
template void RankBorders::before_any(const CycleStep&, const StepDataOf<double>&, StreamRef);
template void RankBorders::after_any(const CycleStep&, StepDataOf<float>, const CallersVectors&,
                                     const CycleExponent*, StreamRef);
template void RankBorders::after_any(const CycleStep&, StepDataOf<double>, const CallersVectors&,
                                     const CycleExponent*, StreamRef);

}  // namespace trireme::multigrid
