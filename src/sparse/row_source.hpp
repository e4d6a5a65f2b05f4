// SPDX-License-Identifier: BSD-3-Clause
// The inner interface of a generator: it makes the columns and the values of any row.
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
  // Appends the columns of the row, ascending and without duplicates. Many threads call it at a
  // time.
  virtual void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const = 0;
  // Whether length_of() gives the number of columns of a row at less cost than append_columns().
  virtual bool knows_lengths() const { return false; }
  virtual std::int32_t length_of(std::int64_t /*row*/) const { return 0; }
  // `columns` are those of append_columns(); `values` has the same number of elements.
  virtual void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                           double* values) const = 0;
};

// Makes random values: each is a hash of (seed, row, column).
class RandomValueSource : public RowSource {
 public:
  explicit RandomValueSource(std::uint64_t seed) : seed_(seed) {}
  void fill_values(std::int64_t row, std::span<const std::int64_t> columns,
                   double* values) const override;

 protected:
  std::uint64_t seed_;
};

// The coordinates x, y, z of the nodes [first_node, last_node) of a valid spec.
using CoordinatesMaker = std::vector<Array<double>> (*)(const GenerateSpec& spec,
                                                        std::int64_t first_node,
                                                        std::int64_t last_node);
std::vector<Array<double>> elasticity3d_coordinates(const GenerateSpec&, std::int64_t,
                                                    std::int64_t);
std::vector<Array<double>> elasticity3d_shuffled_coordinates(const GenerateSpec&, std::int64_t,
                                                             std::int64_t);

// Sorts the elements from `begin` on and removes duplicates among them.
void make_ascending(std::vector<std::int64_t>& columns, std::size_t begin);

// There is one maker per generator. The spec is valid. The caller asks only for the rows
// [first_row, last_row).
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
std::unique_ptr<RowSource> make_mesh2d(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_lognormal(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_graph(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_blocks(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_highorder(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_bands(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_arrow(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_diffusion3d(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_saddle(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_denserows(const GenerateSpec&, std::int64_t, std::int64_t);
std::unique_ptr<RowSource> make_incidence(const GenerateSpec&, std::int64_t, std::int64_t);

}  // namespace trireme
