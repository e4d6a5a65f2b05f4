// SPDX-License-Identifier: BSD-3-Clause
// A place runs the row-wise work of the set-up. This one is the host, with the threads of OpenMP.
//
// The work itself is structs with an operator()(i), which hold plain pointers and know no place.
// Every result has the same bits for any number of threads: a functor writes only what belongs to
// its i, and sums are taken over blocks of fixed length.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <exception>
#include <numeric>
#include <span>
#include <vector>

#include "base/array.hpp"

namespace trireme::multigrid {

struct HostPlace {
  static constexpr std::int64_t kSumBlock = 256;     // terms that are added by halves
  static constexpr std::int64_t kFewRows = 512;      // one thread does them
  static constexpr std::int64_t kHeavyWork = 32768;  // one thread does less
  static constexpr std::int64_t kLightWork = 32768;  // numbers for a thread of its own

  // Runs f(i) for 0 <= i < n, where all i take about the same time.
  template <class F>
  static void for_each(std::int64_t n, const F& f) {
#pragma omp parallel for schedule(static) if (n > kFewRows)
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }

  // The same for few rows of much work, which each touch `work` numbers.
  template <class F>
  static void for_each_heavy(std::int64_t n, std::int64_t work, const F& f) {
#pragma omp parallel for schedule(static) if (n * work > kHeavyWork)
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }

  // Runs f(turn, work) for 0 <= turn < turns. Each thread has its own make_work(), which f leaves
  // as it was. f may throw: one exception of one thread then leaves this function.
  template <class MakeWork, class F>
  static void for_each_turn(std::int64_t turns, const MakeWork& make_work, const F& f) {
    const auto threads =
        static_cast<int>(std::clamp<std::int64_t>(turns, 1, omp_get_max_threads()));
    std::vector<decltype(make_work())> works;
    works.reserve(threads);
    for (int thread = 0; thread < threads; ++thread) works.push_back(make_work());
    std::exception_ptr error;
    std::atomic_bool failed = false;
#pragma omp parallel num_threads(threads)
    {
      auto& work = works[omp_get_thread_num()];
#pragma omp for schedule(dynamic)
      for (std::int64_t turn = 0; turn < turns; ++turn) {
        if (failed.load(std::memory_order_relaxed)) continue;
        try {
          f(turn, work);
        } catch (...) {
          if (!failed.exchange(true)) error = std::current_exception();
        }
      }
    }
    if (error) std::rethrow_exception(error);
  }

  // The sum of f(i) over 0 <= i < n: terms of a block are added as the threads of a GPU add theirs,
  // and sums of blocks likewise.
  template <class F>
  static double sum(std::int64_t n, const F& f) {
    const std::int64_t blocks = (n + kSumBlock - 1) / kSumBlock;
    std::vector<double> sums(blocks);
#pragma omp parallel for schedule(static) if (n > kFewRows)
    for (std::int64_t block = 0; block < blocks; ++block) {
      double terms[kSumBlock] = {};
      const std::int64_t first = block * kSumBlock, count = std::min(n - first, kSumBlock);
      for (std::int64_t t = 0; t < count; ++t) terms[t] = f(first + t);
      sums[block] = add_by_halves(terms);
    }
    double terms[kSumBlock] = {};
    for (std::int64_t block = 0; block < blocks; ++block) terms[block % kSumBlock] += sums[block];
    return add_by_halves(terms);
  }

  // The maximum of f(i) over 0 <= i < n, or `least` without any.
  template <class F, class Value>
  static Value maximum(std::int64_t n, Value least, const F& f) {
    Value largest = least;
#pragma omp parallel for schedule(static) reduction(max : largest) if (n > kFewRows)
    for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<Value>(f(i)));
    return largest;
  }

  // Turns the counts in sums[0 .. n-1] into the places where each begins. sums[n] becomes the
  // total, which is also returned; it is right where it does not fit into 32 bits.
  static std::int64_t sum_exclusively(std::span<std::int32_t> sums) {
    const std::int64_t n = std::ssize(sums) - 1;
    const int parts = parts_of(n);
    std::vector<std::int64_t> before(parts + 1, 0);
#pragma omp parallel for schedule(static) num_threads(parts)
    for (int part = 0; part < parts - 1; ++part)
      before[part + 1] = std::accumulate(sums.begin() + n * part / parts,
                                         sums.begin() + n * (part + 1) / parts, std::int64_t{0});
    std::partial_sum(before.begin(), before.end(), before.begin());
#pragma omp parallel for schedule(static) num_threads(parts)
    for (int part = 0; part < parts; ++part) {
      std::int64_t total = before[part];
      for (std::int64_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
        const std::int32_t count = sums[i];
        sums[i] = static_cast<std::int32_t>(total);
        total += count;
      }
      if (part + 1 == parts) before[parts] = total;
    }
    sums.back() = static_cast<std::int32_t>(before[parts]);
    return before[parts];
  }

  // Removes the numbers for which drop(number) holds. The others keep their order.
  template <class Drop>
  static void erase_if(Array<std::int32_t>& numbers, const Drop& drop) {
    const std::int64_t n = std::ssize(numbers);
    const int parts = parts_of(n);
    const auto begin = numbers.begin();
    std::vector<std::int64_t> ends(parts);
#pragma omp parallel for schedule(static) num_threads(parts)
    for (int part = 0; part < parts; ++part)
      ends[part] =
          std::remove_if(begin + n * part / parts, begin + n * (part + 1) / parts, drop) - begin;
    auto end = begin + ends[0];
    for (int part = 1; part < parts; ++part)
      end = std::copy(begin + n * part / parts, begin + ends[part], end);
    numbers.erase(end, numbers.end());
  }

  // The number of threads that share n numbers of little work each.
  static int parts_of(std::int64_t n) {
    return static_cast<int>(std::clamp<std::int64_t>(n / kLightWork, 1, omp_get_max_threads()));
  }

 private:
  // Adds 32 terms by halves, and then the sums of all 32 terms likewise.
  static double add_by_halves(double* terms) {
    constexpr int kLanes = 32;
    for (std::int64_t first = 0; first < kSumBlock; first += kLanes)
      for (int half = kLanes / 2; half > 0; half /= 2)
        for (int t = 0; t < half; ++t) terms[first + t] += terms[first + t + half];
    for (std::int64_t half = kSumBlock / 2; half >= kLanes; half /= 2)
      for (std::int64_t t = 0; t < half; t += kLanes) terms[t] += terms[t + half];
    return terms[0];
  }
};

}  // namespace trireme::multigrid
