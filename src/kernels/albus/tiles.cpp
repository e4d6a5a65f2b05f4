// SPDX-License-Identifier: BSD-3-Clause
// Builds a block of tiles in two walks through its rows: the first counts the rows of each length
// in each tile, the second puts every nonzero into its place.
#include "kernels/albus/tiles.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace trireme::albus {
namespace {

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 16;  // 16-bit rows and columns

// Rows that have fewer nonzeros in a tile than this are sorted by their number.
constexpr std::int32_t kSortedLengths = 64;
constexpr std::int32_t kLong = 0;  // the class of all longer rows, in their order

class BlockBuilder {
 public:
  BlockBuilder(const PartOfCsr& source, int column_bits, Part& part)
      : row_ptr_(source.row_ptr),
        col_idx_(source.col_idx),
        column_bits_(column_bits),
        first_nonzero_(source.row_ptr[source.first_row]),
        part_(part),
        in_row_(((source.cols - 1) >> column_bits) + 1),
        rows_(in_row_.size() * kSortedLengths),
        next_nonzero_(rows_.size()),
        long_nonzeros_(in_row_.size()),
        next_long_run_(in_row_.size()) {}

  // Adds the block of the rows [begin, end).
  void add_block(std::int64_t begin, std::int64_t end) {
    std::fill(rows_.begin(), rows_.end(), 0);
    std::fill(long_nonzeros_.begin(), long_nonzeros_.end(), 0);
    for (std::int64_t row = begin; row < end; ++row) count(row);
    TileBlock block{.first_row = static_cast<std::int32_t>(begin),
                    .rows = static_cast<std::int32_t>(end - begin),
                    .first_tile = static_cast<std::int32_t>(part_.tiles.size())};
    for (std::size_t tile = 0; tile < in_row_.size(); ++tile) open_tile(tile);
    block.tiles = static_cast<std::int32_t>(part_.tiles.size()) - block.first_tile;
    part_.blocks.push_back(block);
    part_.tile_rows.resize(slots_);
    part_.tile_columns.resize(nonzeros_);
    for (std::int64_t row = begin; row < end; ++row) place(row, row - begin);
  }

 private:
  static std::int32_t length_class(std::int32_t length) {
    return length < kSortedLengths ? length : kLong;
  }

  // Counts the nonzeros that a row has in each tile; touched_ names the tiles that have any.
  void split(std::int64_t row) {
    touched_.clear();
    for (std::int32_t k = row_ptr_[row]; k < row_ptr_[row + 1]; ++k) {
      const std::int32_t tile = col_idx_[k] >> column_bits_;
      if (in_row_[tile]++ == 0) touched_.push_back(tile);
    }
  }

  void count(std::int64_t row) {
    split(row);
    for (const std::int32_t tile : touched_) {
      const std::int32_t length = in_row_[tile];
      ++rows_[tile * kSortedLengths + length_class(length)];
      if (length >= kSortedLengths) long_nonzeros_[tile] += length;
      in_row_[tile] = 0;
    }
  }

  // Replaces the counts of a tile by the places of its first row and first nonzero of each class.
  void open_tile(std::size_t tile) {
    std::int32_t* rows = rows_.data() + tile * kSortedLengths;
    std::int32_t* next = next_nonzero_.data() + tile * kSortedLengths;
    Tile opened{.first_column = static_cast<std::int32_t>(tile << column_bits_),
                .first_run = static_cast<std::int32_t>(part_.runs.size()),
                .first_slot = slots_,
                .first_nonzero = nonzeros_};
    for (std::int32_t length = 1; length < kSortedLengths; ++length) {
      const std::int32_t count = rows[length];
      if (count > 0) part_.runs.push_back({length, count});
      rows[length] = slots_;
      next[length] = nonzeros_;
      slots_ += count;
      nonzeros_ += length * count;
    }
    const std::int32_t long_rows = rows[kLong];
    rows[kLong] = slots_;
    next[kLong] = nonzeros_;
    next_long_run_[tile] = static_cast<std::int32_t>(part_.runs.size());
    part_.runs.resize(part_.runs.size() + long_rows);
    slots_ += long_rows;
    nonzeros_ += long_nonzeros_[tile];
    if (nonzeros_ == opened.first_nonzero) return;
    opened.runs = static_cast<std::int32_t>(part_.runs.size()) - opened.first_run;
    opened.nonzeros = nonzeros_ - opened.first_nonzero;
    part_.tiles.push_back(opened);
  }

  void place(std::int64_t row, std::int64_t row_in_block) {
    split(row);
    for (const std::int32_t tile : touched_) {
      const std::int32_t length = in_row_[tile];
      const std::int32_t at = tile * kSortedLengths + length_class(length);
      part_.tile_rows[rows_[at]++] = static_cast<std::uint16_t>(row_in_block);
      if (length >= kSortedLengths) part_.runs[next_long_run_[tile]++] = {length, 1};
      in_row_[tile] = next_nonzero_[at];  // from here on the place of the row's next nonzero
      next_nonzero_[at] += length;
    }
    for (std::int32_t k = row_ptr_[row]; k < row_ptr_[row + 1]; ++k) {
      const std::int32_t tile = col_idx_[k] >> column_bits_;
      const std::int32_t to = in_row_[tile]++;
      part_.tile_columns[to] = static_cast<std::uint16_t>(col_idx_[k] - (tile << column_bits_));
      part_.places[k - first_nonzero_] = to;
    }
    for (const std::int32_t tile : touched_) in_row_[tile] = 0;
  }

  std::span<const std::int32_t> row_ptr_;
  std::span<const std::int32_t> col_idx_;
  int column_bits_;
  std::int32_t first_nonzero_;
  Part& part_;
  std::int32_t slots_ = 0, nonzeros_ = 0;    // of all tiles so far
  std::vector<std::int32_t> in_row_;         // nonzeros of one row, by tile
  std::vector<std::int32_t> touched_;        // tiles that hold nonzeros of that row
  std::vector<std::int32_t> rows_;           // by tile and class: the rows, then the next slot
  std::vector<std::int32_t> next_nonzero_;   // by tile and class
  std::vector<std::int32_t> long_nonzeros_;  // by tile
  std::vector<std::int32_t> next_long_run_;  // by tile
};

// The lines of x that a direct-mapped cache holds.
class LineCache {
 public:
  explicit LineCache(std::int64_t bytes)
      : mask_(std::bit_floor(static_cast<std::uint64_t>(bytes / kLineBytes)) - 1),
        lines_(mask_ + 1, -1) {}

  static constexpr std::int64_t kLineBytes = 64;

  bool holds(std::int32_t line) const {
    return lines_[static_cast<std::uint32_t>(line) & mask_] == line;
  }
  void take(std::int32_t line) { lines_[static_cast<std::uint32_t>(line) & mask_] = line; }

 private:
  std::uint64_t mask_;
  std::vector<std::int32_t> lines_;
};

// The part of a sample of the nonzeros whose entry of x is in no cached line. A line that follows
// a cached one is not counted, because the hardware prefetches it.
double missed_lines(const PartOfCsr& part, std::int64_t cache_bytes, std::int64_t values_per_line) {
  constexpr std::int64_t kSegments = 8;
  constexpr std::int64_t kSegment = std::int64_t{1} << 15;  // fills the cache, and is counted
  LineCache cache(cache_bytes);
  std::int64_t counted = 0, missed = 0;
  for (std::int64_t s = 0; s < kSegments; ++s) {
    const std::int64_t first = part.row_ptr[part.first_row] + s * part.nonzeros() / kSegments;
    for (std::int64_t k = first; k < first + 2 * kSegment; ++k) {
      const auto line = static_cast<std::int32_t>(part.col_idx[k] / values_per_line);
      if (k >= first + kSegment) {
        ++counted;
        if (!cache.holds(line) && !cache.holds(line - 1)) ++missed;
      }
      cache.take(line);
    }
  }
  return static_cast<double>(missed) / static_cast<double>(counted);
}

}  // namespace

TileShape tile_shape(std::int64_t core_cache_bytes, std::size_t value_bytes) {
  const auto columns = static_cast<std::uint64_t>(core_cache_bytes) / 4 / value_bytes;
  return {kMaxExtent,
          std::countr_zero(std::bit_floor(std::min<std::uint64_t>(columns, kMaxExtent)))};
}

bool pays_in_tiles(const PartOfCsr& part, TileShape shape, std::int64_t core_cache_bytes,
                   std::size_t value_bytes) {
  constexpr std::int64_t kMinNonzeros = std::int64_t{1} << 19;
  if (part.cols * static_cast<std::int64_t>(value_bytes) <= core_cache_bytes ||
      part.last_row <= part.first_row || part.nonzeros() < kMinNonzeros)
    return false;
  // Nanoseconds, measured on one core of an Intel Xeon (Sapphire Rapids): a line of x that a gather
  // waits for, a line that is streamed into the cache once per block, and a row's entry of y.
  constexpr double kMissedLine = 7, kStreamedLine = 2, kRow = 3;
  const std::int64_t values_per_line =
      LineCache::kLineBytes / static_cast<std::int64_t>(value_bytes);
  const std::int64_t rows = part.last_row - part.first_row;
  const std::int64_t blocks = (rows - 1) / shape.rows + 1;
  const std::int64_t lines_per_block = part.cols / values_per_line;
  const auto lines = static_cast<double>(blocks * lines_per_block);
  const auto nonzeros = static_cast<double>(part.nonzeros());
  const double missed = nonzeros * missed_lines(part, core_cache_bytes / 2, values_per_line);
  return kMissedLine * missed > kStreamedLine * lines + kRow * static_cast<double>(rows);
}

void build_tiles(const PartOfCsr& source, TileShape shape, Part& part) {
  if (source.first_row >= source.last_row) return;
  const std::int64_t rows = source.last_row - source.first_row;
  const std::int64_t blocks = (rows - 1) / shape.rows + 1;
  part.places.resize(source.nonzeros());
  part.placed = source.nonzeros();
  part.tile_columns.reserve(source.nonzeros());
  BlockBuilder builder(source, shape.column_bits, part);
  for (std::int64_t b = 0; b < blocks; ++b)
    builder.add_block(source.first_row + b * rows / blocks,
                      source.first_row + (b + 1) * rows / blocks);
}

}  // namespace trireme::albus
