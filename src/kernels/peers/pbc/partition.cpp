// SPDX-License-Identifier: BSD-3-Clause
// Deals rows to blocks through a heap of the blocks.
#include "kernels/peers/pbc/partition.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace trireme::pbc {
namespace {

// The rows, longest first, ties in row order; and how many consecutive ones have the same length.
struct SortedRows {
  struct Run {
    std::int64_t length = 0;
    std::int64_t rows = 0;
  };
  std::vector<std::int32_t> rows;
  std::vector<Run> runs;
};

SortedRows sort_rows(std::span<const std::int32_t> lengths) {
  SortedRows sorted;
  sorted.rows.resize(lengths.size());
  std::iota(sorted.rows.begin(), sorted.rows.end(), 0);
  std::stable_sort(sorted.rows.begin(), sorted.rows.end(),
                   [&](std::int32_t a, std::int32_t b) { return lengths[a] > lengths[b]; });
  for (const std::int32_t row : sorted.rows) {
    if (sorted.runs.empty() || sorted.runs.back().length != lengths[row])
      sorted.runs.push_back({lengths[row], 0});
    ++sorted.runs.back().rows;
  }
  return sorted;
}

// The blocks, from which each row takes the one with the fewest nonzeros.
class Deal {
 public:
  explicit Deal(std::int64_t blocks) : heap_(blocks), dealt_(blocks) {
    for (std::int64_t block = 0; block < blocks; ++block)
      heap_[block] = {0, static_cast<std::int32_t>(block)};
  }

  // Deals the rows of a run. Returns the number of rows that each block gets. Where the blocks
  // differ by less than a row, they take turns, so that whole rounds are dealt at once.
  std::span<const std::int64_t> deal(SortedRows::Run run) {
    std::fill(dealt_.begin(), dealt_.end(), 0);
    while (run.rows > 0) {
      const std::int64_t rounds = run.rows / std::ssize(heap_);
      if (rounds > 0 && most_ - heap_.front().first < run.length) {
        for (std::int64_t& rows : dealt_) rows += rounds;
        for (auto& [nonzeros, block] : heap_) nonzeros += rounds * run.length;
        most_ += rounds * run.length;
        run.rows -= rounds * std::ssize(heap_);
        continue;
      }
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      auto& [nonzeros, block] = heap_.back();
      nonzeros += run.length;
      most_ = std::max(most_, nonzeros);
      ++dealt_[block];
      --run.rows;
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
    return dealt_;
  }

  std::vector<std::int64_t> nonzeros() const {
    std::vector<std::int64_t> of_blocks(heap_.size());
    for (const auto& [nonzeros, block] : heap_) of_blocks[block] = nonzeros;
    return of_blocks;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int32_t>> heap_;  // (nonzeros, block), smallest in front
  std::vector<std::int64_t> dealt_;
  std::int64_t most_ = 0;  // nonzeros of the fullest block
};

double variance_of(const SortedRows& sorted, std::int64_t blocks) {
  Deal deal(blocks);
  for (const SortedRows::Run& run : sorted.runs) deal.deal(run);
  return block_variance(deal.nonzeros());
}

Partition partition_sorted(const SortedRows& sorted, std::int64_t blocks) {
  Partition partition{.nonzeros = std::vector<std::int64_t>(blocks),
                      .block_of = std::vector<std::int32_t>(sorted.rows.size())};
  Deal deal(blocks);
  auto row = sorted.rows.begin();
  for (const SortedRows::Run& run : sorted.runs) {
    std::int32_t block = 0;
    for (std::int64_t rows : deal.deal(run)) {
      for (; rows > 0; --rows) partition.block_of[*row++] = block;
      ++block;
    }
  }

  const std::vector<std::int64_t> nonzeros = deal.nonzeros();
  std::vector<std::int32_t> number(blocks, -1);
  std::int32_t next = 0;
  for (std::int32_t& block : partition.block_of) {
    if (number[block] < 0) {
      partition.nonzeros[next] = nonzeros[block];
      number[block] = next++;
    }
    block = number[block];
  }
  return partition;
}

}  // namespace

double block_variance(std::span<const std::int64_t> block_nonzeros) {
  if (block_nonzeros.empty()) return 0;
  const auto blocks = static_cast<double>(block_nonzeros.size());
  const auto sum = std::accumulate(block_nonzeros.begin(), block_nonzeros.end(), std::int64_t{0});
  const double mean = static_cast<double>(sum) / blocks;
  double squares = 0;
  for (const std::int64_t nonzeros : block_nonzeros) {
    const double off = static_cast<double>(nonzeros) - mean;
    squares += off * off;
  }
  return squares / blocks;
}

Partition partition_rows(std::span<const std::int32_t> lengths, std::int64_t blocks) {
  return partition_sorted(sort_rows(lengths), blocks);
}

Partition best_partition(std::span<const std::int32_t> lengths, std::int64_t mean_nonzeros,
                         std::int64_t candidates) {
  if (lengths.empty()) return {};
  const SortedRows sorted = sort_rows(lengths);
  const auto nnz = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  const std::int64_t rows = std::ssize(lengths);
  const std::int64_t first = std::min((nnz + mean_nonzeros - 1) / mean_nonzeros, rows);
  const std::int64_t last = std::min(first + candidates - 1, rows);
  std::int64_t best = first;
  double least = -1;
  for (std::int64_t blocks = first; first < last && blocks <= last && least != 0; ++blocks) {
    const double variance = variance_of(sorted, blocks);
    if (least >= 0 && variance >= least) continue;
    least = variance;
    best = blocks;
  }
  return partition_sorted(sorted, best);
}

}  // namespace trireme::pbc
