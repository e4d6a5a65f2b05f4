// SPDX-License-Identifier: BSD-3-Clause
// Matrices on which the factors of a GPU are compared with those of the host.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "factors/options.hpp"
#include "sparse/generators.hpp"
#include "support/random.hpp"

namespace trireme::factors::test {

struct NamedMatrix {
  std::string name;
  CsrMatrix<double> a;
  IluChoice choice{};
  bool definite = false;
};

using Entries = std::vector<std::pair<std::int64_t, double>>;

// Row i has entries_of(i), in this order.
inline CsrMatrix<double> from_rows(std::int64_t rows,
                                   const std::function<Entries(std::int64_t)>& entries_of) {
  CsrMatrix<double> a;
  a.rows = a.cols = rows;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (const auto& [column, value] : entries_of(i)) {
      a.col_idx.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(value);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

inline CsrMatrix<double> generated(const std::string& kind, std::int64_t n) {
  const GenerateSpec spec{.kind = kind, .n = n};
  return generate(spec, 0, generator_shape(spec).rows).local;
}

// Columns in any order, of which one comes twice. Each third diagonal is 0 or not stored.
inline CsrMatrix<double> random_matrix(std::int64_t rows, bool has_zeros) {
  trireme::test::Random random(rows);
  return from_rows(rows, [&](std::int64_t i) {
    Entries row;
    for (int k = 0; k < 8; ++k) row.emplace_back(random.below(rows), random.value<double>());
    if (!has_zeros) row.emplace_back(i, 6 + random.value<double>());
    if (has_zeros && i % 3 == 1) row.emplace_back(i, 0.0);
    if (has_zeros && i % 3 == 2) row.emplace_back(i, random.value<double>());
    row.emplace_back(row[3].first, random.value<double>());
    row.emplace_back(row[3].first, 1e-17);
    return row;
  });
}

// Symmetric, with a diagonal of 1 that needs to grow before all pivots are positive.
inline CsrMatrix<double> indefinite_matrix(std::int64_t rows) {
  return from_rows(rows, [&](std::int64_t i) {
    Entries row{{i, 1.0}};
    for (const std::int64_t distance : {1, 7, 40}) {
      const auto value = [&](std::int64_t low) {
        return to_unit(split_mix(static_cast<std::uint64_t>(low * 64 + distance), 5)) - 0.4;
      };
      if (i >= distance) row.emplace_back(i - distance, value(i - distance));
      if (i + distance < rows) row.emplace_back(i + distance, value(i));
    }
    return row;
  });
}

// A dense row and a dense column, of the first row or of the last one.
inline CsrMatrix<double> arrow_matrix(std::int64_t rows, std::int64_t dense) {
  return from_rows(rows, [&](std::int64_t i) {
    Entries row;
    if (i == dense) {
      for (std::int64_t j = 0; j < rows; ++j)
        row.emplace_back(j, j == i ? 100.0 : 1.0 / static_cast<double>(j + 3));
    } else {
      row = {{dense, 0.5 + 1.0 / static_cast<double>(i + 1)}, {i, 3.0}};
    }
    return row;
  });
}

// Rows of thousands of entries among short ones.
inline CsrMatrix<double> long_rows_matrix(std::int64_t rows) {
  trireme::test::Random random(7);
  return from_rows(rows, [&](std::int64_t i) {
    Entries row{{i, 60.0}};
    const bool is_long = i % 400 == 13;
    for (std::int64_t k = 0; k < (is_long ? rows / 2 : 3); ++k)
      row.emplace_back(random.below(rows), random.value<double>() * (is_long ? 0.01 : 1));
    return row;
  });
}

inline CsrMatrix<double> tridiagonal_matrix(std::int64_t rows) {
  return from_rows(rows, [&](std::int64_t i) {
    Entries row;
    if (i > 0) row.emplace_back(i - 1, -1.0);
    row.emplace_back(i, 2.5);
    if (i + 1 < rows) row.emplace_back(i + 1, -1.25);
    return row;
  });
}

// Row i times `of_row(i)`, column j times of_row(j).
inline CsrMatrix<double> scaled(CsrMatrix<double> a,
                                const std::function<double(std::int64_t)>& of_row) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      a.values[k] *= of_row(i) * of_row(a.col_idx[k]);
  return a;
}

inline std::vector<NamedMatrix> matrices() {
  std::vector<NamedMatrix> all;
  for (const auto& [kind, n] : {std::pair("poisson3d", 20), std::pair("elasticity3d", 8),
                                std::pair("diffusion3d", 14), std::pair("convection3d", 12)}) {
    const std::string name = kind;
    const bool symmetric = name != "convection3d";
    all.push_back({name, generated(name, n)});
    all.push_back({name + " rcm 1", generated(name, n), {.levels = 1, .order = RowOrder::rcm}});
    all.push_back({name + " colours", generated(name, n), {.order = RowOrder::colours}, symmetric});
    all.push_back({name + " 2", generated(name, n), {.levels = 2}, symmetric});
  }
  all.push_back({"random", random_matrix(3000, false)});
  all.push_back({"random 1", random_matrix(600, false), {.levels = 1}});
  all.push_back({"zeros", random_matrix(2000, true)});
  all.push_back({"zeros rcm", random_matrix(2000, true), {.order = RowOrder::rcm}});
  all.push_back({"indefinite", indefinite_matrix(1500), {}, true});
  all.push_back({"indefinite 1", indefinite_matrix(1500), {.levels = 1}, true});
  for (const std::int32_t levels : {0, 1}) {
    all.push_back({"arrow first", arrow_matrix(20000, 0), {.levels = levels}});
    all.push_back({"arrow last", arrow_matrix(20000, 19999), {.levels = levels}});
    all.push_back({"long rows", long_rows_matrix(4000), {.levels = levels}});
  }
  all.push_back({"small", scaled(generated("poisson3d", 9), [](auto) { return 1e-100; })});
  all.push_back({"beyond FP32", scaled(generated("poisson3d", 12), [](std::int64_t i) {
                   return i % 2 == 0 ? 0x1p+100 : 0x1p-100;
                 })});
  all.push_back({"one row", tridiagonal_matrix(1)});
  all.push_back({"no row", tridiagonal_matrix(0)});
  all.push_back({"empty rows", from_rows(70, [](std::int64_t) { return Entries(); })});
  all.push_back({"tridiagonal", tridiagonal_matrix(50000)});
  return all;
}

}  // namespace trireme::factors::test
