// SPDX-License-Identifier: BSD-3-Clause
// A group of lanes (multigrid/set_up/row_group.hpp) on a thread of the host, so that the algorithm
// that a GPU runs by warps can be tested without one. A lane runs up to its next sync(), and then
// the next lane; the order of the lanes is turned round at each sync().
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace trireme::multigrid::test {

class EmulatedGroup;

// The lanes of one group.
class Lanes {
 public:
  explicit Lanes(std::int32_t count) : values(count), numbers(count), lanes_(count) {}

  // Runs work(group) on each lane.
  void run(const std::function<void(const EmulatedGroup&)>& work);
  void sync() { swapcontext(&lanes_[now_].context, &caller_); }

  std::vector<std::int32_t> values;  // one per lane, to be exchanged
  std::vector<double> numbers;       // the same

 private:
  struct Lane {
    ucontext_t context;
    std::vector<char> stack;
    bool done = false;
  };
  static void start(unsigned high, unsigned low);

  std::vector<Lane> lanes_;
  ucontext_t caller_{};
  std::size_t now_ = 0;
  const std::function<void(const EmulatedGroup&)>* work_ = nullptr;
};

class EmulatedGroup {
 public:
  EmulatedGroup(Lanes& lanes, std::int32_t rank) : lanes_(&lanes), rank_(rank) {}

  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return static_cast<std::int32_t>(lanes_->values.size()); }
  void sync() const { lanes_->sync(); }
  std::int32_t sum(std::int32_t value) const {
    std::int32_t total = 0;
    for (const std::int32_t term : gather(value)) total += term;
    return total;
  }
  double maximum(double value) const {
    lanes_->numbers[rank_] = value;
    sync();
    const double most = *std::max_element(lanes_->numbers.begin(), lanes_->numbers.end());
    sync();
    return most;
  }
  bool any(bool value) const { return sum(value) > 0; }
  std::uint32_t ballot(bool value) const {
    std::uint32_t bits = 0, bit = 1;
    for (const std::int32_t term : gather(value)) {
      if (term) bits |= bit;
      bit <<= 1;
    }
    return bits;
  }
  template <class Value>
  Value from(Value value, std::int32_t lane) const {
    lanes_->numbers[rank_] = value;
    sync();
    const auto result = static_cast<Value>(lanes_->numbers[lane]);
    sync();
    return result;
  }
  static std::int32_t compare_and_swap(std::int32_t* at, std::int32_t expected,
                                       std::int32_t desired) {
    const std::int32_t old = *at;
    if (old == expected) *at = desired;
    return old;
  }

 private:
  std::vector<std::int32_t> gather(std::int32_t value) const {
    lanes_->values[rank_] = value;
    sync();
    std::vector<std::int32_t> all = lanes_->values;
    sync();
    return all;
  }

  Lanes* lanes_;
  std::int32_t rank_;
};

inline void Lanes::start(unsigned high, unsigned low) {
  auto* const group = reinterpret_cast<Lanes*>(std::uintptr_t{high} << 32 | low);
  const std::size_t lane = group->now_;
  (*group->work_)(EmulatedGroup(*group, static_cast<std::int32_t>(lane)));
  group->lanes_[lane].done = true;
}

inline void Lanes::run(const std::function<void(const EmulatedGroup&)>& work) {
  constexpr std::size_t kStackBytes = 1 << 18;
  work_ = &work;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  for (Lane& lane : lanes_) {
    lane.stack.resize(kStackBytes);
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.data();
    lane.context.uc_stack.ss_size = kStackBytes;
    lane.context.uc_link = &caller_;
    makecontext(&lane.context, reinterpret_cast<void (*)()>(&Lanes::start), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  }
  bool forward = true;
  for (std::size_t left = lanes_.size(); left > 0; forward = !forward)
    for (std::size_t turn = 0; turn < lanes_.size(); ++turn) {
      now_ = forward ? turn : lanes_.size() - 1 - turn;
      if (lanes_[now_].done) continue;
      swapcontext(&caller_, &lanes_[now_].context);
      left -= lanes_[now_].done;
    }
}

inline void run_group(std::int32_t lanes, const std::function<void(const EmulatedGroup&)>& work) {
  Lanes(lanes).run(work);
}

}  // namespace trireme::multigrid::test
