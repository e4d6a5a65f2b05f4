// SPDX-License-Identifier: BSD-3-Clause
// Tries the merge of rows on runs of rows of the same length.
#include "kernels/teb/threshold.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace trireme::teb {
namespace {

// Algorithm 2 on runs. Takes rows from the front and the back, many equal blocks at a time.
class MergeTrial {
 public:
  MergeTrial(const RowRuns& runs, std::int64_t blocks, std::int64_t threshold, double mean)
      : runs_(runs),
        blocks_left_(blocks),
        threshold_(threshold),
        mean_(mean),
        nonzeros_left_(nonzeros(runs)),
        back_(runs.size() - 1),
        front_rows_(runs.front().rows),
        back_rows_(runs.back().rows) {}

  // The sum over the blocks of (nonzeros - mean)^2.
  double sum_of_squares() {
    while (nonzeros_left_ > 0 && blocks_left_ > 1) {
      if (front_ == back_)
        merge_within_one_run();
      else
        merge_front_with_back();
    }
    if (blocks_left_ > 0) emit(1, nonzeros_left_);
    emit(blocks_left_, 0);
    return squares_;
  }

 private:
  void emit(std::int64_t count, std::int64_t size) {
    const double off = static_cast<double>(size) - mean_;
    squares_ += static_cast<double>(count) * off * off;
    nonzeros_left_ -= count * size;
    blocks_left_ -= count;
  }

  // All remaining rows have the same length: every block takes as many as fit.
  void merge_within_one_run() {
    const std::int64_t length = runs_[front_].length;
    const std::int64_t fit = std::max<std::int64_t>(threshold_ / length, 1);
    const std::int64_t count = std::min(front_rows_ / fit, blocks_left_ - 1);
    if (count > 0) {
      emit(count, fit * length);
      front_rows_ -= count * fit;
    } else {
      emit(1, front_rows_ * length);
    }
  }

  // Makes blocks of one front row and as many rows of the last run as fit. Where the last run has
  // too few rows, it makes one block that also takes rows of the runs before it.
  void merge_front_with_back() {
    const std::int64_t front_length = runs_[front_].length, back_length = runs_[back_].length;
    const std::int64_t fit = std::max<std::int64_t>(threshold_ - front_length, 0) / back_length;
    if (fit <= back_rows_) {
      std::int64_t count = std::min(front_rows_, blocks_left_ - 1);
      if (fit > 0) count = std::min(count, back_rows_ / fit);
      emit(count, front_length + fit * back_length);
      take_front(count);
      take_back(count * fit);
      return;
    }
    std::int64_t size = front_length;
    take_front(1);
    while (rows_left()) {
      const std::int64_t length = runs_[back_].length;
      const std::int64_t rows = front_ == back_ ? front_rows_ : back_rows_;
      const std::int64_t taken = std::min(rows, (threshold_ - size) / length);
      if (taken == 0) break;
      size += taken * length;
      take_back(taken);
      if (taken < rows) break;
    }
    emit(1, size);
  }

  bool rows_left() const { return front_ < back_ || (front_ == back_ && front_rows_ > 0); }
  // Where front and back are the same run, front_rows_ counts its rows.
  void take_front(std::int64_t rows) {
    front_rows_ -= rows;
    if (front_rows_ == 0 && front_ < back_) {
      ++front_;
      front_rows_ = front_ == back_ ? back_rows_ : runs_[front_].rows;
    }
  }
  void take_back(std::int64_t rows) {
    if (front_ == back_) {
      front_rows_ -= rows;
      return;
    }
    back_rows_ -= rows;
    if (back_rows_ == 0) {
      --back_;
      back_rows_ = runs_[back_].rows;  // not used where front and back are the same run
    }
  }

  const RowRuns& runs_;
  std::int64_t blocks_left_;
  std::int64_t threshold_;
  double mean_;
  std::int64_t nonzeros_left_;
  std::size_t front_ = 0, back_;
  std::int64_t front_rows_, back_rows_;
  double squares_ = 0;
};

bool larger_k_is_better(const RowRuns& runs, std::int64_t blocks) {
  return block_variance(runs, blocks, 1) > block_variance(runs, blocks, 1.01);
}

}  // namespace

std::int64_t nonzeros(const RowRuns& runs) {
  std::int64_t sum = 0;
  for (const Run& run : runs) sum += run.length * run.rows;
  return sum;
}

RowRuns runs_of(std::span<const std::int64_t> counts, std::vector<std::int32_t> longer) {
  RowRuns runs;
  std::sort(longer.begin(), longer.end(), std::greater<>());
  for (const std::int32_t length : longer) {
    if (runs.empty() || runs.back().length != length) runs.push_back({length, 0});
    ++runs.back().rows;
  }
  for (std::int64_t length = std::ssize(counts) - 1; length > 0; --length)
    if (counts[length] > 0) runs.push_back({length, counts[length]});
  return runs;
}

double block_variance(const RowRuns& runs, std::int64_t blocks, double k) {
  if (runs.empty()) return 0;
  const double mean = static_cast<double>(nonzeros(runs)) / static_cast<double>(blocks);
  const auto threshold = static_cast<std::int64_t>(mean * k);
  return MergeTrial(runs, blocks, threshold, mean).sum_of_squares() / static_cast<double>(blocks);
}

std::int64_t critical_blocks(const RowRuns& runs, std::int64_t max_blocks) {
  constexpr std::int64_t kCheapSteps = 10'000;
  if (max_blocks * static_cast<std::int64_t>(runs.size()) <= kCheapSteps) {
    for (std::int64_t blocks = 2; blocks <= max_blocks; ++blocks)
      if (larger_k_is_better(runs, blocks)) return blocks;
    return max_blocks + 1;
  }
  std::int64_t below = 1, critical = 2;
  while (!larger_k_is_better(runs, critical)) {
    if (critical == max_blocks) return max_blocks + 1;
    below = critical;
    critical = std::min(2 * critical, max_blocks);
  }
  while (critical - below > 1) {
    const std::int64_t middle = below + (critical - below) / 2;
    (larger_k_is_better(runs, middle) ? critical : below) = middle;
  }
  return critical;
}

double select_k(double mean, double critical_mean) {
  if (mean > critical_mean) return 1.005;
  if (mean > critical_mean / 2) return 1.01;
  return 1.03;
}

Threshold select_threshold(const RowRuns& runs, std::int64_t mean_nonzeros,
                           std::int64_t max_nonzeros) {
  constexpr double kLargestK = 1.03;
  constexpr std::int64_t kCandidates = 8;  // means from the wanted one down to 7/8 of it
  const auto nnz = static_cast<double>(nonzeros(runs));
  if (nnz == 0) return {1, 1, static_cast<std::int32_t>(max_nonzeros)};

  const double largest_mean =
      std::min(static_cast<double>(mean_nonzeros), static_cast<double>(max_nonzeros) / kLargestK);
  const auto min_blocks = static_cast<std::int64_t>(nnz / largest_mean) + 1;
  const std::int64_t step = std::max<std::int64_t>(min_blocks / 7 / kCandidates, 1);
  const std::int64_t max_blocks = min_blocks + (kCandidates - 1) * step;
  const double critical_mean = nnz / static_cast<double>(critical_blocks(runs, max_blocks));

  Threshold best;
  double min_variance = 0;
  for (std::int64_t blocks = min_blocks; blocks <= max_blocks; blocks += step) {
    const double mean = nnz / static_cast<double>(blocks);
    const double k = select_k(mean, critical_mean);
    const double variance = block_variance(runs, blocks, k);
    if (blocks > min_blocks && variance >= min_variance) continue;
    min_variance = variance;
    best = {blocks, k, static_cast<std::int32_t>(mean * k)};
  }
  best.nonzeros = std::max(best.nonzeros, 1);
  return best;
}

}  // namespace trireme::teb
