// SPDX-License-Identifier: BSD-3-Clause
// Matrices made of pictures and of random tiles that have a certain format.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/peers/tilespmv/layout.hpp"
#include "sparse/csr.hpp"
#include "support/random.hpp"

namespace trireme::test {

// Each string is a row, '.' is a place without an entry. The values are 1, 2, 3, ... in row order.
inline CsrMatrix<double> matrix_of_picture(const std::vector<std::string>& picture) {
  CsrMatrix<double> a;
  a.rows = static_cast<std::int64_t>(picture.size());
  a.cols = static_cast<std::int64_t>(picture.front().size());
  for (const std::string& row : picture) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (row[column] == '.') continue;
      a.col_idx.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(static_cast<double>(a.col_idx.size()));
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

// `count` different numbers below 16, at random.
inline std::vector<int> random_lines(Random& random, int count) {
  std::vector<int> lines(16);
  for (int k = 0; k < 16; ++k) lines[k] = k;
  for (int k = 0; k < count; ++k)
    std::swap(lines[k], lines[k + static_cast<int>(random.below(16 - k))]);
  lines.resize(count);
  return lines;
}

using Places = std::vector<std::pair<int, int>>;  // row and column in a tile

// A random full tile that the rule gives the format.
inline Places random_tile(tilespmv::Format format, Random& random) {
  using tilespmv::Format;
  Places places;
  const auto add_row = [&](int row, int length) {
    for (const int column : random_lines(random, length)) places.emplace_back(row, column);
  };
  switch (format) {
    case Format::csr:
      for (int row = 0; row < 16; ++row) add_row(row, row % 2 ? 1 : 4 + row % 3);
      break;
    case Format::coo:
      for (const int row : random_lines(random, 1 + static_cast<int>(random.below(12))))
        add_row(row, 1);
      break;
    case Format::ell:
      for (int row = 0; row < 16; ++row) add_row(row, row % 7 ? 4 : 3);
      break;
    case Format::hyb: {
      const auto crowded = static_cast<int>(random.below(16));
      for (int row = 0; row < 16; ++row) add_row(row, row == crowded ? 14 : 1);
      break;
    }
    case Format::dns:
      for (int row = 0; row < 16; ++row) add_row(row, 12 + static_cast<int>(random.below(5)));
      break;
    case Format::dns_row:
      for (const int row : random_lines(random, 1 + static_cast<int>(random.below(11))))
        add_row(row, 16);
      break;
    case Format::dns_col:
      for (const int column : random_lines(random, 1 + static_cast<int>(random.below(11))))
        for (int row = 0; row < 16; ++row) places.emplace_back(row, column);
      break;
  }
  return places;
}

// A grid of random tiles, cut to rows x cols. format_at(i, j) gives the format of a tile; the grid
// has an empty place where it gives a negative number. The columns of a row are not sorted.
template <class Value, class FormatAt>
CsrMatrix<Value> matrix_of_tiles(std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                                 FormatAt&& format_at) {
  Random random(seed);
  std::vector<std::set<std::int32_t>> columns(rows);
  for (std::int64_t i = 0; i < tilespmv::tiles_along(rows); ++i)
    for (std::int64_t j = 0; j < tilespmv::tiles_along(cols); ++j) {
      const int format = format_at(i, j);
      if (format < 0) continue;
      for (const auto& [row, column] : random_tile(static_cast<tilespmv::Format>(format), random))
        if (16 * i + row < rows && 16 * j + column < cols)
          columns[16 * i + row].insert(static_cast<std::int32_t>(16 * j + column));
    }
  CsrMatrix<Value> a;
  a.rows = rows;
  a.cols = cols;
  for (const auto& row : columns) {
    const std::size_t begin = a.col_idx.size();
    a.col_idx.insert(a.col_idx.end(), row.begin(), row.end());
    for (std::size_t k = a.col_idx.size(); k > begin + 1; --k)
      std::swap(a.col_idx[k - 1], a.col_idx[begin + static_cast<std::size_t>(random.below(
                                                        static_cast<std::int64_t>(k - begin)))]);
    for (std::size_t k = begin; k < a.col_idx.size(); ++k)
      a.values.push_back(random.value<Value>());
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

}  // namespace trireme::test
