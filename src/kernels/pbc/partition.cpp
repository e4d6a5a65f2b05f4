// SPDX-License-Identifier: BSD-3-Clause
// Deals rows to blocks through a heap of the blocks.
#include "kernels/pbc/partition.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace trireme::pbc {
namespace {

// The rows, longest first, ties in row order.
std::vector<std::int32_t> sort_rows(std::span<const std::int32_t> lengths) {
  std::vector<std::int32_t> sorted(lengths.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::int32_t a, std::int32_t b) { return lengths[a] > lengths[b]; });
  return sorted;
}

// Calls take(position, block) for each row of `sorted`. Returns the nonzeros per block.
template <class Take>
std::vector<std::int64_t> deal(std::span<const std::int32_t> lengths,
                               std::span<const std::int32_t> sorted, std::int64_t blocks,
                               Take take) {
  using Load = std::pair<std::int64_t, std::int32_t>;  // nonzeros, block
  std::vector<Load> heap(blocks);                      // the smallest pair is in front
  for (std::int64_t block = 0; block < blocks; ++block)
    heap[block] = {0, static_cast<std::int32_t>(block)};
  for (std::size_t position = 0; position < sorted.size(); ++position) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    take(position, heap.back().second);
    heap.back().first += lengths[sorted[position]];
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  }
  std::vector<std::int64_t> nonzeros(blocks);
  for (const auto& [load, block] : heap) nonzeros[block] = load;
  return nonzeros;
}

Partition partition_sorted(std::span<const std::int32_t> lengths,
                           std::span<const std::int32_t> sorted, std::int64_t blocks) {
  std::vector<std::int32_t> dealt(sorted.size());
  const std::vector<std::int64_t> nonzeros =
      deal(lengths, sorted, blocks,
           [&](std::size_t position, std::int32_t block) { dealt[position] = block; });
  Partition partition{.nonzeros = std::vector<std::int64_t>(blocks),
                      .block_of = std::vector<std::int32_t>(lengths.size())};
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && lengths[sorted[end]] == lengths[sorted[begin]]) ++end;
    std::sort(dealt.begin() + begin, dealt.begin() + end);
    for (std::size_t k = begin; k < end; ++k) partition.block_of[sorted[k]] = dealt[k];
  }

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
  return partition_sorted(lengths, sort_rows(lengths), blocks);
}

Partition best_partition(std::span<const std::int32_t> lengths, std::int64_t mean_nonzeros,
                         std::int64_t candidates) {
  if (lengths.empty()) return {};
  const std::vector<std::int32_t> sorted = sort_rows(lengths);
  const auto nnz = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  const std::int64_t rows = std::ssize(lengths);
  const std::int64_t first = std::min((nnz + mean_nonzeros - 1) / mean_nonzeros, rows);
  const std::int64_t last = std::min(first + candidates - 1, rows);
  std::int64_t best = first;
  double least = -1;
  for (std::int64_t blocks = first; first < last && blocks <= last && least != 0; ++blocks) {
    const double variance =
        block_variance(deal(lengths, sorted, blocks, [](std::size_t, std::int32_t) {}));
    if (least >= 0 && variance >= least) continue;
    least = variance;
    best = blocks;
  }
  return partition_sorted(lengths, sorted, best);
}

}  // namespace trireme::pbc
