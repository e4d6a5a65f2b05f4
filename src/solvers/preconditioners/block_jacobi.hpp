// SPDX-License-Identifier: BSD-3-Clause
// Block Jacobi: dense diagonal blocks of up to 32 rows, inverted once. Blocks are natural (all but
// the last have the same number of rows) or follow the row groups of the caller.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "base/error.hpp"
#include "solvers/preconditioners/diagonal.hpp"
#include "solvers/preconditioners/spec.hpp"

namespace trireme::solvers {

// The rows first .. last - 1.
struct RowGroup {
  std::int32_t first, last;
};

// Which rows make a block: rows starts[k] .. starts[k + 1] - 1, `size` of them at most.
struct BlockRows {
  std::vector<std::int32_t> starts;
  std::int64_t rows = 0;
  std::int32_t size = 0;
  bool natural = true;  // all blocks but the last have `size` rows
  // As in PreconditionerSpec.
  bool magnitudes = false;
  std::int64_t first_row = 0;
  std::span<const std::int32_t> callers_rows;

  // The block of each row.
  Array<RowGroup> groups() const;
};
// The blocks that `spec` describes, for a process with `rows` rows. Throws Error{usage} for sizes
// that do not fit.
BlockRows block_rows(const PreconditionerSpec& spec, std::int64_t rows);

// Throws Error{input}: the block that begins with this process's row `row` cannot be inverted.
[[noreturn]] void refuse_singular_block(const BlockRows& blocks, std::int64_t row);

// The inverses of spec.blocks, rows x blocks.size, by Gauss-Jordan elimination with partial
// pivoting on the host. Throws Error{usage} for a wrong number of entries, Error{input} for a
// singular block.
Array<double> invert_blocks(const BlockRows& blocks, const PreconditionerSpec& spec);

// z = B^-1 r, with sums in FP64. Reads a block of r for each row: at most `size` values, all but
// one of them from cache.
template <class T>
struct SolveBlocksOf {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const T* r;
  T* z;
  const double* inverse;
  const RowGroup* group;
  std::int64_t rows;
  std::int32_t size;

  struct Row {
    double z;
  };
  // The first row of the block of row i, and the row behind its last one.
  TRIREME_HD std::int64_t first_row(std::int64_t i) const {
    return group ? group[i].first : i - i % size;
  }
  TRIREME_HD std::int64_t end_row(std::int64_t i) const {
    const std::int64_t end = first_row(i) + size;
    return group ? group[i].last : end < rows ? end : rows;
  }
  TRIREME_HD Row load(std::int64_t i) const {
    const std::int64_t first = first_row(i), last = end_row(i);
    const double* line = inverse + i * size;
    double z_i = 0;
    for (std::int64_t k = first; k < last; ++k) z_i += line[k - first] * static_cast<double>(r[k]);
    return {z_i};
  }
  TRIREME_HD void update(Row&, const State&, double*) const {}
  TRIREME_HD void store(std::int64_t i, const Row& row) const { z[i] = static_cast<T>(row.z); }
};
using SolveBlocks = SolveBlocksOf<double>;

struct BlockJacobi {
  static constexpr PreconditionerInfo info{
      .names = {{{"trireme_block_jacobi", "trireme_block_jacobi", "", "dense diagonal blocks"},
                 {"pbjacobi", "trireme_pbjacobi", "pbjacobi", "blocks of the matrix's block size"},
                 {"vpbjacobi", "trireme_vpbjacobi", "vpbjacobi", "blocks of rows of one pattern"}}},
      .summary = "dense diagonal blocks",
      .data = PreconditionerData::blocks,
      .parameter = {"-pc_trireme_block_size", "rows of a dense diagonal block", 4, 2, 32,
                    &PreconditionerSpec::block_size},
      .memory = {.per_block_entry = 2 * sizeof(double)},  // the blocks and their inverses
      // Measured on one CPU: 0.87 to 1.2 of the iterations of Jacobi, and a pass more.
      .expected = ExpectedCost{.rate_of_jacobi = 1.05,
                               .set_up = {.products = 1, .passes = 1},
                               .iteration = {.passes = 1}},
      .exchanges = false,
      .near_nullspace = false,
      .row_order_is_free = false};
  static constexpr bool pointwise = false;
  static constexpr bool takes_floats = true;
  static constexpr int work_vectors = 0;
  using Prepared = BlockJacobi;

  // Row i belongs to the rows of group[i] (null: natural blocks of `size`), and
  // inverse[i * size + k] is the entry of the inverse block in row i and the block's column k.
  const double* inverse = nullptr;
  const RowGroup* group = nullptr;
  std::int32_t size = 0;

  template <class Setup>
  static BlockJacobi prepare(Setup& setup, const PreconditionerSpec& spec) {
    const BlockRows blocks = block_rows(spec, setup.rows());
    BlockJacobi m;
    m.size = blocks.size;
    m.inverse = setup.invert_blocks(blocks, spec);
    if (!blocks.natural) m.group = setup.keep(blocks.groups());
    return m;
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec, class T>
  TRIREME_HD void apply(Exec& e, const T* r, T* z) const {
    e.pass(SolveBlocksOf<T>{r, z, inverse, group, e.rows(), size});
  }
};

}  // namespace trireme::solvers
