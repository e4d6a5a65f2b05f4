// SPDX-License-Identifier: BSD-3-Clause
// Transfers to and from bytes, with the checks of what was read.
#include "multigrid/store/stored_hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "multigrid/store/stored_outline.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

void require(bool fits) {
  if (!fits) fail(ExitCode::input, "is no hierarchy of this matrix");
}

void write(PackedWriter& writer, const CsrView<double>& m) {
  writer.number(m.rows);
  writer.number(m.cols);
  writer.array(m.row_ptr);
  writer.array(m.col_idx);
  writer.array(m.values);
}

CsrMatrix<double> read_matrix(PackedReader& reader) {
  CsrMatrix<double> m;
  m.rows = reader.number();
  m.cols = reader.number();
  m.row_ptr = reader.array<std::int32_t>();
  m.col_idx = reader.array<std::int32_t>();
  m.values = reader.array<double>();
  require(m.rows >= 0 && m.cols >= 0 && std::ssize(m.row_ptr) == m.rows + 1 &&
          m.row_ptr.front() == 0 && m.row_ptr.back() == std::ssize(m.col_idx) &&
          m.col_idx.size() == m.values.size());
  std::int64_t faults = 0;
#pragma omp parallel for schedule(static) reduction(+ : faults)
  for (std::int64_t i = 0; i < m.rows; ++i) faults += m.row_ptr[i] > m.row_ptr[i + 1] ? 1 : 0;
#pragma omp parallel for schedule(static) reduction(+ : faults)
  for (std::int64_t k = 0; k < m.nnz(); ++k)
    faults += m.col_idx[k] < 0 || m.col_idx[k] >= m.cols ? 1 : 0;
  require(faults == 0);
  return m;
}

std::int32_t small_number(PackedReader& reader) {
  const std::int64_t number = reader.number();
  require(number == static_cast<std::int32_t>(number));
  return static_cast<std::int32_t>(number);
}

StoredTransfer read_transfer(PackedReader& reader) {
  StoredTransfer t;
  Coarsening& c = t.coarsening;
  c.rules.threshold = reader.real();
  c.rules.smoothed = reader.number() != 0;
  c.rules.aggressive = reader.number() != 0;
  c.rules.block_size = small_number(reader);
  c.aggregates = small_number(reader);
  c.coarse_block_size = small_number(reader);
  c.spectral_radius = reader.real();
  c.unfiltered = reader.number() != 0;
  c.thinned = reader.real();
  c.aggregate_of_node = reader.array<std::int32_t>();
  c.tentative.values = reader.array<double>();
  c.tentative.width = small_number(reader);
  c.tentative.block_size = small_number(reader);
  c.strong = reader.array<std::uint8_t>();
  c.p = read_matrix(reader);
  const Array<std::int64_t> starts = reader.array<std::int64_t>();
  t.row_starts.assign(starts.begin(), starts.end());
  t.ghosts = reader.array<std::int32_t>();
  t.coarse = read_matrix(reader);
  return t;
}

// A level while the levels are walked down: what its transfer has to fit to.
struct Shape {
  std::int64_t rows = 0, global_rows = 0;
  std::int64_t nnz = -1;  // -1: not known, since the level is gathered from all ranks
  std::int64_t node_size = 1;
  int rank = 0, ranks = 1;  // that share the level
};

// The same level, whole on each rank where it lies whole.
Shape placed(Shape level, const Options& options) {
  if (level.ranks == 1 || !lies_whole(level.global_rows, level.node_size, options)) return level;
  return {
      .rows = level.global_rows, .global_rows = level.global_rows, .node_size = level.node_size};
}

void check_ghosts(const Array<std::int32_t>& ghosts, std::int64_t first, std::int64_t last,
                  std::int64_t rows) {
  std::int64_t before = -1;
  for (const std::int32_t ghost : ghosts) {
    require(ghost > before && ghost < rows && (ghost < first || ghost >= last));
    before = ghost;
  }
}

// Checks a transfer of the level, and returns the next level.
Shape checked(const StoredTransfer& t, const Shape& level) {
  const Coarsening& c = t.coarsening;
  require(std::ssize(t.row_starts) == level.ranks + 1 && t.row_starts.front() == 0 &&
          std::is_sorted(t.row_starts.begin(), t.row_starts.end()));
  require(c.rules.block_size == level.node_size && c.coarse_block_size >= 1 &&
          c.tentative.width == c.coarse_block_size && c.tentative.block_size == level.node_size);
  require(level.ranks > 1 || t.ghosts.empty());
  const std::int64_t first = t.row_starts[level.rank];
  const Shape next{.rows = t.row_starts[level.rank + 1] - first,
                   .global_rows = t.row_starts.back(),
                   .nnz = t.coarse.nnz(),
                   .node_size = c.coarse_block_size,
                   .rank = level.rank,
                   .ranks = level.ranks};
  check_ghosts(t.ghosts, first, first + next.rows, next.global_rows);
  require(c.p.rows == level.rows && c.p.cols == next.rows + std::ssize(t.ghosts));
  require(std::int64_t{c.aggregates} * c.coarse_block_size == c.p.cols);
  require(t.coarse.rows == next.rows && t.coarse.cols == next.global_rows);
  // Those of ghosts follow those of the rank, and renew() checks their number.
  const std::int64_t nodes = level.rows / level.node_size;
  require(level.ranks > 1 ? std::ssize(c.aggregate_of_node) >= nodes
                          : std::ssize(c.aggregate_of_node) == nodes);
  for (const std::int32_t aggregate : c.aggregate_of_node)
    require(aggregate >= -1 && aggregate < c.aggregates);
  require(c.tentative.values.empty() ||
          std::ssize(c.tentative.values) >= level.rows * c.coarse_block_size);
  require(c.strong.empty() || level.nnz < 0 || std::ssize(c.strong) == level.nnz);
  return next;
}

}  // namespace

bool lies_whole(std::int64_t global_rows, std::int64_t node_size, const Options& options) {
  const std::int64_t counted = global_rows * (options.counts_unknowns ? node_size : 1);
  return counted <= options.replicated_rows || global_rows <= options.coarsest_rows;
}

void write(PackedWriter& writer, const Transfer& t, const CsrView<double>& coarse) {
  const Coarsening& c = t.coarsening;
  writer.real(c.rules.threshold);
  writer.number(c.rules.smoothed ? 1 : 0);
  writer.number(c.rules.aggressive ? 1 : 0);
  writer.number(c.rules.block_size);
  writer.number(c.aggregates);
  writer.number(c.coarse_block_size);
  writer.real(c.spectral_radius);
  writer.number(c.unfiltered ? 1 : 0);
  writer.real(c.thinned);
  writer.array(c.aggregate_of_node);
  writer.array(c.tentative.values);
  writer.number(c.tentative.width);
  writer.number(c.tentative.block_size);
  writer.array(c.strong);
  write(writer, c.p.view());
  writer.array(c.columns.starts);
  writer.array(c.columns.ghosts);
  write(writer, coarse);
}

StoredHierarchy read_hierarchy(std::span<const std::byte> bytes, const DistributedMatrix& matrix,
                               const Options& options) {
  PackedReader reader(bytes);
  StoredHierarchy h;
  h.build = reader.number();
  h.set_up_seconds = reader.real();
  const std::int64_t levels = reader.number();
  require(levels >= 0 && levels <= options.max_levels);
  if (levels == 0) return h;
  h.symmetric = reader.number() != 0;
  h.remark = reader.text();
  Shape shape = placed({.rows = matrix.local_rows(),
                        .global_rows = matrix.global_rows(),
                        .nnz = matrix.blocks.nnz(),
                        .node_size = options.block_size,
                        .rank = rank_of(matrix.comm),
                        .ranks = size_of(matrix.comm)},
                       options);
  for (std::int64_t l = 0; l < levels; ++l) {
    StoredLevel& level = h.levels.emplace_back();
    level.spectral_radius = reader.real();
    const bool coarsest = l + 1 == levels;
    require((reader.number() == 0) == coarsest);
    if (coarsest) continue;
    level.transfer = read_transfer(reader);
    shape = placed(checked(*level.transfer, shape), options);
  }
  require(reader.at_end());
  return h;
}

StoredOutline outline_of_start(std::span<const std::byte> start) {
  PackedReader reader(start);
  reader.number();
  StoredOutline outline;
  outline.set_up_seconds = reader.real();
  outline.levels = reader.number();
  if (outline.levels < 0) fail(ExitCode::input, "is no hierarchy");
  return outline;
}

StoredOutline outline_of(std::span<const std::byte> bytes) {
  StoredOutline outline = outline_of_start(bytes);
  PackedReader reader(bytes.subspan(kOutlineStart));
  if (outline.levels > 0) {
    reader.number();
    reader.text();
  }
  for (std::int64_t l = 0; l < outline.levels; ++l) {
    reader.real();
    if (reader.number() == 0) continue;
    const CsrMatrix<double> coarse = read_transfer(reader).coarse;
    outline.coarse.push_back({.rows = coarse.rows, .nonzeros = coarse.nnz()});
  }
  if (!reader.at_end()) fail(ExitCode::input, "is longer than a hierarchy");
  return outline;
}

Array<std::byte> not_worth_reading(double set_up_seconds) {
  PackedWriter writer;
  writer.number(0);
  writer.real(set_up_seconds);
  writer.number(0);
  return writer.bytes();
}

}  // namespace trireme::multigrid
