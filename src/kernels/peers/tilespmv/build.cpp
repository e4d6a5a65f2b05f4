// SPDX-License-Identifier: BSD-3-Clause
// Builds the TileSpMV layout on the host: sorts the entries of 16 rows by tile, selects the format
// of each tile, and writes the tiles. The threads share the rows of tiles.
#include "kernels/peers/tilespmv/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/stopwatch.hpp"
#include "kernels/peers/tilespmv/write_tile.hpp"

namespace trireme::tilespmv {
namespace {

// An entry of the CSR and its place among the tiles.
struct Entry {
  std::int32_t tile_column;
  std::int32_t entry;  // its number in the CSR
  std::uint8_t place;  // 16 * row + column within the tile
};

// The entries of one tile, as write_tile.hpp takes them.
struct TileEntries {
  std::span<const Entry> entries;

  std::int32_t size() const { return static_cast<std::int32_t>(entries.size()); }
  std::uint8_t place(std::int32_t k) const { return entries[k].place; }
  std::int32_t entry(std::int32_t k) const { return entries[k].entry; }
};

template <class Value>
class Builder {
 public:
  explicit Builder(const CsrView<Value>& a) : a_(a), tile_rows_(tiles_along(a.rows)) {
    built_.layout.rows = a.rows;
    built_.layout.cols = a.cols;
    built_.layout.nnz = a.nnz();
  }

  Built<Value> build() {
    Stopwatch watch;
    std::vector<BuildStep> steps;
    sort_entries();
    steps.push_back({"sort entries by tile", watch.lap()});
    count_tiles();
    select_formats();
    steps.push_back({"select formats", watch.lap()});
    write_tiles();
    steps.push_back({"write tiles", watch.lap()});
    store_values(a_.values, built_);
    steps.push_back({"values", watch.lap()});
    const Layout<Value>& layout = built_.layout;
    built_.steps.push_back({describe(layout.tile_format, std::ssize(layout.deferred_col_idx)), 0});
    built_.steps.insert(built_.steps.end(), steps.begin(), steps.end());
    return std::move(built_);
  }

 private:
  std::int64_t first_row(std::int64_t tile_row) const {
    return std::min(tile_row * kTile, a_.rows);
  }

  std::span<const Entry> entries_of(std::int64_t tile_row) const {
    const std::int64_t begin = a_.row_ptr[first_row(tile_row)];
    return std::span(entries_).subspan(begin, a_.row_ptr[first_row(tile_row + 1)] - begin);
  }

  // Calls body(entries of the tile) for each tile of a row, by ascending column.
  template <class Body>
  void for_each_tile(std::int64_t tile_row, Body&& body) const {
    std::span<const Entry> rest = entries_of(tile_row);
    while (!rest.empty()) {
      const auto end = std::find_if(rest.begin(), rest.end(), [&](const Entry& entry) {
        return entry.tile_column != rest.front().tile_column;
      });
      const auto count = static_cast<std::size_t>(end - rest.begin());
      body(rest.first(count));
      rest = rest.subspan(count);
    }
  }

  TileCounts counts_of(std::int64_t tile_row, std::span<const Entry> tile) const {
    return count_entries(TileEntries{tile}, tile_size(a_.rows, tile_row),
                         tile_size(a_.cols, tile.front().tile_column));
  }

  static bool very_sparse(std::span<const Entry> tile) {
    return std::ssize(tile) <= kMaxDeferredEntries;
  }
  bool deferred(std::span<const Entry> tile) const { return defers_ && very_sparse(tile); }

  void sort_entries() {
    entries_.resize(a_.nnz());
#pragma omp parallel for schedule(dynamic, 64)
    for (std::int64_t tile_row = 0; tile_row < tile_rows_; ++tile_row) {
      for (std::int64_t row = first_row(tile_row); row < first_row(tile_row + 1); ++row)
        for (std::int32_t k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k)
          entries_[k] = {a_.col_idx[k] / kTile, k,
                         place_of(static_cast<int>(row % kTile), a_.col_idx[k] % kTile)};
      std::sort(entries_.begin() + a_.row_ptr[first_row(tile_row)],
                entries_.begin() + a_.row_ptr[first_row(tile_row + 1)],
                [](const Entry& l, const Entry& r) {
                  return std::tie(l.tile_column, l.place, l.entry) <
                         std::tie(r.tile_column, r.place, r.entry);
                });
    }
  }

  // Decides whether very sparse tiles are deferred, and counts the tiles that stay.
  void count_tiles() {
    Array<std::int32_t> all(tile_rows_), sparse(tile_rows_);
    std::int64_t saved = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : saved)
    for (std::int64_t tile_row = 0; tile_row < tile_rows_; ++tile_row) {
      all[tile_row] = sparse[tile_row] = 0;
      for_each_tile(tile_row, [&](std::span<const Entry> tile) {
        ++all[tile_row];
        if (!very_sparse(tile)) return;
        ++sparse[tile_row];
        saved += bytes_saved(std::ssize(tile));
      });
    }
    defers_ = defers(a_.rows, saved);
    Array<std::int32_t>& tile_ptr = built_.layout.tile_ptr;
    tile_ptr.resize(tile_rows_ + 1);
    tile_ptr[0] = 0;
    for (std::int64_t tile_row = 0; tile_row < tile_rows_; ++tile_row)
      tile_ptr[tile_row + 1] =
          tile_ptr[tile_row] + all[tile_row] - (defers_ ? sparse[tile_row] : 0);
  }

  // Fills all arrays of level 1.
  void select_formats() {
    Layout<Value>& layout = built_.layout;
    const std::int64_t tiles = layout.tile_ptr.back();
    layout.tile_col_idx.resize(tiles);
    layout.tile_format.resize(tiles);
    layout.tile_nnz.resize(tiles + 1);
    layout.tile_index.resize(tiles + 1);
    layout.tile_nnz[0] = layout.tile_index[0] = 0;
    if (defers_) layout.deferred_ptr.assign(a_.rows + 1, 0);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::int64_t tile_row = 0; tile_row < tile_rows_; ++tile_row) {
      std::int64_t at = layout.tile_ptr[tile_row];
      for_each_tile(tile_row, [&](std::span<const Entry> tile) {
        if (deferred(tile)) {
          for (const Entry& entry : tile)
            ++layout.deferred_ptr[tile_row * kTile + row_of(entry.place) + 1];
          return;
        }
        const TilePlan plan = plan_tile(counts_of(tile_row, tile), sizeof(Value));
        layout.tile_col_idx[at] = tile.front().tile_column;
        layout.tile_format[at] = plan.format;
        layout.tile_nnz[at + 1] = static_cast<std::uint32_t>(plan.stored);
        layout.tile_index[at + 1] = static_cast<std::uint32_t>(plan.index_bytes);
        ++at;
      });
    }
    for (auto* offsets : {&layout.tile_nnz, &layout.tile_index})
      std::partial_sum(offsets->begin(), offsets->end(), offsets->begin());
    std::partial_sum(layout.deferred_ptr.begin(), layout.deferred_ptr.end(),
                     layout.deferred_ptr.begin());
  }

  // Fills the index bytes, the deferred columns and the positions of the values.
  void write_tiles() {
    Layout<Value>& layout = built_.layout;
    layout.indices.resize(layout.tile_index.back());
    if (defers_) layout.deferred_col_idx.resize(layout.deferred_ptr.back());
    layout.values.resize(static_cast<std::size_t>(layout.tile_nnz.back()) +
                         layout.deferred_col_idx.size());
    built_.position.resize(a_.nnz());
#pragma omp parallel for schedule(dynamic, 64)
    for (std::int64_t tile_row = 0; tile_row < tile_rows_; ++tile_row) {
      std::int64_t at = layout.tile_ptr[tile_row];
      std::array<std::int32_t, kTile> next_deferred{};
      if (defers_)
        for (int row = 0; row < tile_size(a_.rows, tile_row); ++row)
          next_deferred[row] = layout.deferred_ptr[tile_row * kTile + row];
      for_each_tile(tile_row, [&](std::span<const Entry> tile) {
        if (deferred(tile))
          defer(tile, next_deferred);
        else
          write(tile_row, tile, at++);
      });
    }
  }

  void write(std::int64_t tile_row, std::span<const Entry> tile, std::int64_t at) {
    Layout<Value>& layout = built_.layout;
    const std::uint32_t first = layout.tile_nnz[at];
    std::fill(layout.values.begin() + first, layout.values.begin() + layout.tile_nnz[at + 1],
              Value{});
    const TileCounts counts = counts_of(tile_row, tile);
    write_tile(TileEntries{tile}, counts, plan_tile(counts, sizeof(Value)),
               layout.indices.data() + layout.tile_index[at], [&](std::int32_t entry, int place) {
                 built_.position[entry] = first + static_cast<std::uint32_t>(place);
               });
  }

  void defer(std::span<const Entry> tile, std::array<std::int32_t, kTile>& next) {
    Layout<Value>& layout = built_.layout;
    for (const Entry& entry : tile) {
      const std::int32_t to = next[row_of(entry.place)]++;
      layout.deferred_col_idx[to] = entry.tile_column * kTile + column_of(entry.place);
      built_.position[entry.entry] = layout.tile_nnz.back() + static_cast<std::uint32_t>(to);
    }
  }

  const CsrView<Value>& a_;
  std::int64_t tile_rows_;
  bool defers_ = false;
  Array<Entry> entries_;  // of each row of tiles by tile, row and column
  Built<Value> built_;
};

}  // namespace

template <class Value>
Built<Value> build(const CsrView<Value>& a) {
  return Builder<Value>(a).build();
}

template <class Value>
void store_values(std::span<const Value> values, Built<Value>& built) {
  const auto nnz = std::ssize(built.position);
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < nnz; ++k) built.layout.values[built.position[k]] = values[k];
}

std::array<std::int64_t, kFormats> count_formats(std::span<const Format> formats) {
  std::array<std::int64_t, kFormats> counts{};
  for (const Format format : formats) ++counts[static_cast<std::size_t>(format)];
  return counts;
}

std::string describe(std::span<const Format> formats, std::int64_t deferred) {
  const auto n = count_formats(formats);
  return fmt::format(
      "tiles: {} CSR, {} COO, {} ELL, {} HYB, {} Dns, {} DnsRow, {} DnsCol; {} entries deferred",
      n[0], n[1], n[2], n[3], n[4], n[5], n[6], deferred);
}

template Built<double> build(const CsrView<double>&);
template Built<float> build(const CsrView<float>&);
template void store_values(std::span<const double>, Built<double>&);
template void store_values(std::span<const float>, Built<float>&);

}  // namespace trireme::tilespmv
