// SPDX-License-Identifier: BSD-3-Clause
// What a generator is inside: it makes any row's columns, and the values that belong to them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sparse/generators.hpp"

namespace trireme {

class RowSource {
 public:
  virtual ~RowSource() = default;
  // Adds the row's columns to the end: ascending, without duplicates. Called by many threads.
  virtual void append_columns(std::int64_t row, std::vector<std::int32_t>& columns) const = 0;
  // `columns` are those of append_columns; `values` has room for as many.
  virtual void fill_values(std::int64_t row, std::span<const std::int32_t> columns,
                           double* values) const = 0;
};

// Random values: a hash of (seed, row, column).
class RandomValueSource : public RowSource {
 public:
  explicit RandomValueSource(std::uint64_t seed) : seed_(seed) {}
  void fill_values(std::int64_t row, std::span<const std::int32_t> columns,
                   double* values) const override;

 protected:
  std::uint64_t seed_;
};

// Sorts the tail from `begin` on and drops its duplicates.
void make_ascending(std::vector<std::int32_t>& columns, std::size_t begin);

// One maker a generator; the spec is valid. Only rows of [first_row, last_row) will be asked for.
using SourceMaker = std::unique_ptr<RowSource> (*)(const GenerateSpec& spec, std::int64_t first_row,
                                                   std::int64_t last_row);
std::unique_ptr<RowSource> make_poisson2d(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_poisson3d(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_poisson27(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_convection3d(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_elasticity3d(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_elasticity3d_shuffled(const GenerateSpec&, std::int64_t,
                                                      std::int64_t);
std::unique_ptr<RowSource> make_random(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_rmat(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_circuit(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_short(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_web(const GenerateSpec&, std::int64_t, std::int64_t);

}  // namespace trireme
