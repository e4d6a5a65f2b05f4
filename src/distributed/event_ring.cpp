// SPDX-License-Identifier: BSD-3-Clause
// Two events per product.
#include "distributed/event_ring.hpp"

namespace trireme {
namespace {

constexpr std::size_t kRing = 4096;

}  // namespace

void EventRing::begin(StreamRef stream) {
  const std::size_t at = launched_++ % kRing;
  if (at == ring_.size()) ring_.emplace_back();
  ring_[at].begin.record(stream);
}

void EventRing::end(StreamRef stream) { ring_[(launched_ - 1) % kRing].end.record(stream); }

void EventRing::read_into(ProductTimes& times) {
  if (launched_ == 0) return;
  ring_[(launched_ - 1) % kRing].end.synchronize();
  const std::size_t lost = launched_ > kRing ? launched_ - kRing : 0;
  for (std::size_t k = lost; k < launched_; ++k) {
    const Timed& timed = ring_[k % kRing];
    times.record(1e-6 * microseconds_between(timed.begin, timed.end));
  }
  times.count_unseen(lost);
  launched_ = 0;
}

}  // namespace trireme
