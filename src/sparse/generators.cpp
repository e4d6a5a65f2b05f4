// SPDX-License-Identifier: BSD-3-Clause
// The list of the generators, their limits, and the assembly of rows: chunks of columns are made in
// parallel, then the offsets, and then columns and values are copied to their places. This takes
// O(nnz) time beside the sorting of rows.
#include "sparse/generators.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "sparse/row_blocks.hpp"
#include "sparse/row_source.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();

struct Generator {
  std::string_view name;
  // Limits of n. Stencils and bands reach 2^40 rows, and the others 2^31-1.
  std::int64_t smallest, largest;
  std::int64_t (*rows)(std::int64_t n);  // as a function of n
  SourceMaker make;
  CoordinatesMaker coordinates = nullptr;  // of nodes of three unknowns; null: one unknown per node
  std::int64_t (*cols)(std::int64_t n) = nullptr;  // null: as many as rows
};

constexpr std::int64_t itself(std::int64_t n) { return n; }
constexpr std::int64_t square(std::int64_t n) { return n * n; }
constexpr std::int64_t cube(std::int64_t n) { return n * n * n; }
constexpr std::int64_t three_cubes(std::int64_t n) { return 3 * n * n * n; }
constexpr std::int64_t five_cubes(std::int64_t n) { return 5 * n * n * n; }
constexpr std::int64_t free_nodes(std::int64_t n) { return square(2 * n - 1); }
constexpr std::int64_t faces_and_cells(std::int64_t n) { return 2 * n * (n + 1) + n * n; }
constexpr std::int64_t edges_of_cube(std::int64_t n) { return 3 * n * n * (n - 1); }
constexpr std::int64_t power_of_two(std::int64_t n) { return std::int64_t{1} << n; }

constexpr std::array kGenerators = {
    Generator{"poisson2d", 1, 1 << 20, square, make_poisson2d},
    Generator{"poisson3d", 1, 10321, cube, make_poisson3d},
    Generator{"poisson27", 1, 10321, cube, make_poisson27},
    Generator{"elasticity3d", 2, 894, three_cubes, make_elasticity3d, elasticity3d_coordinates},
    Generator{"elasticity3d-shuffled", 2, 894, three_cubes, make_elasticity3d_shuffled,
              elasticity3d_shuffled_coordinates},
    Generator{"convection3d", 1, 10321, cube, make_convection3d},
    Generator{"random", 1, kMax, itself, make_random},
    Generator{"rmat", 1, 30, power_of_two, make_rmat},
    Generator{"circuit", 1, kMax, itself, make_circuit},
    Generator{"short", 1, kMax, itself, make_short},
    Generator{"web", 1, kMax, itself, make_web},
    Generator{"mesh2d", 1, 46340, square, make_mesh2d},
    Generator{"lognormal", 1, kMax, itself, make_lognormal},
    Generator{"graph", 1, kMax, itself, make_graph},
    Generator{"blocks", 1, 754, five_cubes, make_blocks},
    Generator{"highorder", 1, 23170, free_nodes, make_highorder},
    Generator{"bands", 1, kMostRows, itself, make_bands},
    Generator{"arrow", 1, kMax, itself, make_arrow},
    Generator{"diffusion3d", 1, 10321, cube, make_diffusion3d},
    Generator{"saddle", 1, 26754, faces_and_cells, make_saddle},
    Generator{"denserows", 1, kMax, itself, make_denserows},
    Generator{"incidence", 1, 894, edges_of_cube, make_incidence, nullptr, cube},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kGenerators.size()> names;
  for (std::size_t k = 0; k < names.size(); ++k) names[k] = kGenerators[k].name;
  return names;
}();

const Generator& find_generator(const GenerateSpec& spec) {
  for (const Generator& generator : kGenerators) {
    if (generator.name != spec.kind) continue;
    if (spec.n < generator.smallest || spec.n > generator.largest)
      fail(ExitCode::usage, "{} takes n from {} to {}, not {}", spec.kind, generator.smallest,
           generator.largest, spec.n);
    if (spec.kind == "random" && (spec.k < 0 || spec.k > spec.n))
      fail(ExitCode::usage, "random takes k from 0 to n = {} nonzeros per row, not {}", spec.n,
           spec.k);
    if (spec.kind == "rmat" && (spec.k < 1 || spec.k > kMax))
      fail(ExitCode::usage, "rmat takes k from 1 to 2^31-1 edges per row, not {}", spec.k);
    if (spec.kind == "bands" && (spec.k < 0 || spec.k > kMax))
      fail(ExitCode::usage, "bands takes k from 0 to 2^31-1 columns on either side, not {}",
           spec.k);
    return generator;
  }
  const auto near = nearest(spec.kind, kNames);
  fail(ExitCode::usage, "unknown problem '{}';{} known problems: {}", spec.kind,
       near ? fmt::format(" did you mean '{}'?", *near) : "", fmt::join(kNames, ", "));
}

std::unique_ptr<RowSource> make_source(const GenerateSpec& spec, std::int64_t first_row,
                                       std::int64_t last_row) {
  const Generator& generator = find_generator(spec);
  const std::int64_t rows = generator.rows(spec.n);
  if (first_row < 0 || first_row > last_row || last_row > rows)
    fail(ExitCode::internal, "rows {} to {} were asked of {} with {} rows", first_row, last_row,
         spec.kind, rows);
  return generator.make(spec, first_row, last_row);
}

constexpr std::int64_t kRowsPerChunk = 1024;

template <class Column>
struct Chunks {
  std::vector<std::vector<Column>>
      columns;  // each element has those of kRowsPerChunk rows, or none
  Array<std::int32_t> row_lengths;
};

enum class Keep { lengths, columns };

// Counts the columns of the rows, and keeps them where they are asked for.
template <class Column>
Chunks<Column> make_chunks(const RowSource& source, std::int64_t first_row, std::int64_t last_row,
                           Keep keep) {
  const std::int64_t rows = last_row - first_row;
  const std::int64_t count = (rows + kRowsPerChunk - 1) / kRowsPerChunk;
  Chunks<Column> chunks{{}, Array<std::int32_t>(rows)};
  if (keep == Keep::columns) chunks.columns.resize(count);
  const bool makes_columns = keep == Keep::columns || !source.knows_lengths();
#pragma omp parallel
  {
    std::vector<std::int64_t> of_chunk;
#pragma omp for schedule(dynamic)
    for (std::int64_t chunk = 0; chunk < count; ++chunk) {
      of_chunk.clear();
      const std::int64_t end = std::min((chunk + 1) * kRowsPerChunk, rows);
      for (std::int64_t row = chunk * kRowsPerChunk; row < end; ++row) {
        const std::size_t before = of_chunk.size();
        if (makes_columns) source.append_columns(first_row + row, of_chunk);
        chunks.row_lengths[row] = makes_columns
                                      ? static_cast<std::int32_t>(of_chunk.size() - before)
                                      : source.length_of(first_row + row);
        if (keep == Keep::lengths) of_chunk.clear();
      }
      if (keep == Keep::columns) chunks.columns[chunk].assign(of_chunk.begin(), of_chunk.end());
    }
  }
  return chunks;
}

// Fills slab.local, and slab.wide_columns in place of its columns where Column has 64 bits. Columns
// are made where they are stored, if the rows can be counted without them.
template <class Column>
void make_rows(const RowSource& source, std::int64_t last_row, const GenerateSpec& spec,
               std::int64_t most_of_block, Array<Column>& col_idx, RowSlab& slab) {
  CsrMatrix<double>& local = slab.local;
  Chunks<Column> chunks = make_chunks<Column>(
      source, slab.first_row, last_row, source.knows_lengths() ? Keep::lengths : Keep::columns);
  slab.global_nnz = set_row_lengths(chunks.row_lengths, most_of_block, spec.kind, local);
  col_idx.resize(slab.global_nnz);
  local.values.resize(slab.global_nnz);

  const std::int64_t count = (local.rows + kRowsPerChunk - 1) / kRowsPerChunk;
#pragma omp parallel
  {
    std::vector<std::int64_t> of_row;
#pragma omp for schedule(dynamic)
    for (std::int64_t chunk = 0; chunk < count; ++chunk) {
      const std::int64_t begin = chunk * kRowsPerChunk;
      const std::int64_t end = std::min(begin + kRowsPerChunk, local.rows);
      std::vector<Column> kept;
      if (!chunks.columns.empty()) kept = std::move(chunks.columns[chunk]);
      std::int64_t offset = local.row_begin(begin);
      auto next = kept.begin();
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int32_t length = chunks.row_lengths[row];
        of_row.clear();
        if (kept.empty())
          source.append_columns(slab.first_row + row, of_row);
        else
          of_row.assign(next, next + length);
        for (std::int32_t k = 0; k < length; ++k)
          col_idx[offset + k] = static_cast<Column>(of_row[k]);
        source.fill_values(slab.first_row + row, of_row, local.values.data() + offset);
        if (!kept.empty()) next += length;
        offset += length;
      }
    }
  }
}

}  // namespace

std::span<const std::string_view> generator_names() { return kNames; }

GlobalShape generator_shape(const GenerateSpec& spec) {
  const Generator& generator = find_generator(spec);
  const std::int64_t rows = generator.rows(spec.n);
  return {rows, generator.cols ? generator.cols(spec.n) : rows};
}

Array<std::int32_t> generator_row_lengths(const GenerateSpec& spec, std::int64_t first_row,
                                          std::int64_t last_row) {
  const auto source = make_source(spec, first_row, last_row);
  return make_chunks<std::int64_t>(*source, first_row, last_row, Keep::lengths).row_lengths;
}

std::int64_t generator_unknowns_per_node(const GenerateSpec& spec) {
  return find_generator(spec).coordinates ? 3 : 1;
}

std::vector<Array<double>> generator_coordinates(const GenerateSpec& spec, std::int64_t first_node,
                                                 std::int64_t last_node) {
  const Generator& generator = find_generator(spec);
  if (!generator.coordinates) return {};
  return generator.coordinates(spec, first_node, last_node);
}

RowSlab generate(const GenerateSpec& spec, std::int64_t first_row, std::int64_t last_row,
                 std::int64_t most_of_block) {
  const auto source = make_source(spec, first_row, last_row);
  require_local_rows(spec.kind, last_row - first_row);
  const GlobalShape shape = generator_shape(spec);
  RowSlab slab{.global_rows = shape.rows, .global_cols = shape.cols, .first_row = first_row};
  slab.local.cols = shape.cols;
  if (slab.is_wide())
    make_rows(*source, last_row, spec, most_of_block, slab.wide_columns, slab);
  else
    make_rows(*source, last_row, spec, most_of_block, slab.local.col_idx, slab);
  return slab;
}

}  // namespace trireme
