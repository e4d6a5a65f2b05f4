// SPDX-License-Identifier: BSD-3-Clause
// Partitions the rows of each panel, and puts the panels one after another.
#include "kernels/peers/pbc/blocks.hpp"

#include <algorithm>
#include <vector>

#include "kernels/peers/empty_rows.hpp"
#include "kernels/peers/pbc/partition.hpp"

namespace trireme::pbc {
namespace {

// The rows of a panel that are neither empty nor long, block after block.
struct Panel {
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> block_ends;  // in `rows`
};

Panel partition_panel(std::span<const std::int32_t> row_ptr, std::int64_t first_row,
                      std::int64_t last_row, const Plan& plan) {
  std::vector<std::int32_t> rows, lengths;
  for (std::int64_t row = first_row; row < last_row; ++row) {
    const std::int32_t length = row_ptr[row + 1] - row_ptr[row];
    if (length == 0 || length > plan.max_row) continue;
    rows.push_back(static_cast<std::int32_t>(row));
    lengths.push_back(length);
  }
  const Partition partition = best_partition(lengths, plan.mean_nonzeros, plan.candidates);

  // A counting sort by block: next[b] becomes the end of block b.
  std::vector<std::int64_t> next(partition.nonzeros.size() + 1);
  for (const std::int32_t block : partition.block_of) ++next[block + 1];
  for (std::size_t block = 1; block < next.size(); ++block) next[block] += next[block - 1];
  next.pop_back();
  Panel panel;
  panel.rows.resize(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) panel.rows[next[partition.block_of[k]]++] = rows[k];
  panel.block_ends = std::move(next);
  return panel;
}

// Appends a block of the given rows.
void append_block(std::span<const std::int32_t> row_ptr, std::span<const std::int32_t> rows,
                  Blocks& blocks) {
  std::int32_t place = blocks.dev_p.back(), longest = 0;
  for (const std::int32_t row : rows) {
    const std::int32_t length = row_ptr[row + 1] - row_ptr[row];
    blocks.rows.push_back(row);
    blocks.places.push_back(place);
    place += length;
    longest = std::max(longest, length);
  }
  blocks.dev_w.push_back(longest);
  blocks.dev_p.push_back(place);
}

}  // namespace

Blocks make_blocks(std::span<const std::int32_t> row_ptr, const Plan& plan) {
  const std::int64_t rows = std::max<std::int64_t>(std::ssize(row_ptr) - 1, 0);
  const std::int64_t panels = plan.panels(rows);
  std::vector<Panel> made(panels);
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t p = 0; p < panels; ++p)
    made[p] = partition_panel(row_ptr, p * plan.panel_rows,
                              std::min((p + 1) * plan.panel_rows, rows), plan);

  Blocks blocks;
  blocks.empty_rows = find_empty_rows(row_ptr);
  blocks.rows.reserve(rows - std::ssize(blocks.empty_rows));
  blocks.places.reserve(rows - std::ssize(blocks.empty_rows));
  blocks.dev_p.push_back(0);
  for (std::int64_t row = 0; row < rows; ++row)
    if (row_ptr[row + 1] - row_ptr[row] > plan.max_row) {
      const auto long_row = static_cast<std::int32_t>(row);
      append_block(row_ptr, {&long_row, 1}, blocks);
      ++blocks.long_rows;
    }
  for (const Panel& panel : made) {
    std::int64_t begin = 0;
    for (const std::int64_t end : panel.block_ends) {
      append_block(row_ptr, std::span(panel.rows).subspan(begin, end - begin), blocks);
      begin = end;
    }
  }
  return blocks;
}

}  // namespace trireme::pbc
