// SPDX-License-Identifier: BSD-3-Clause
// Register tiles of 4 x 4 elements for the products of tall vectors.
#include "solvers/executors/tall_vectors.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace trireme::solvers {
namespace {

constexpr std::int64_t kTile = 4;
constexpr std::int64_t kStripRows = 64;  // of both vectors stay in the first cache
constexpr std::int64_t kMaxChunks = 256;

// The rows that one thread sums; they depend on the number of rows only.
std::int64_t chunk_rows(std::int64_t rows) {
  return std::max<std::int64_t>(512, (rows + kMaxChunks - 1) / kMaxChunks);
}

// sums(i, j) += a_i.b_j over the rows first .. last - 1, for a tile of i and j.
template <class Count>
void gram_tile(MultiVector<const double> a, MultiVector<const double> b, std::int64_t i,
               std::int64_t j, Count height, Count width, std::int64_t first, std::int64_t last,
               double* sums) {
  double tile[kTile][kTile] = {};
  for (std::int64_t row = first; row < last; ++row) {
    const double* const of_a = a.row(row) + i;
    const double* const of_b = b.row(row) + j;
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) tile[y][x] += of_a[y] * of_b[x];
  }
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) sums[(i + y) * b.width + j + x] += tile[y][x];
}

void gram_rows(MultiVector<const double> a, MultiVector<const double> b, std::int64_t first,
               std::int64_t last, double* sums) {
  using Full = std::integral_constant<std::int64_t, kTile>;
  for (std::int64_t i = 0; i < a.width; i += kTile)
    for (std::int64_t j = 0; j < b.width; j += kTile) {
      const std::int64_t height = std::min(kTile, a.width - i),
                         width = std::min(kTile, b.width - j);
      if (height == kTile && width == kTile)
        gram_tile(a, b, i, j, Full(), Full(), first, last, sums);
      else
        gram_tile(a, b, i, j, height, width, first, last, sums);
    }
}

// y_j (+)= factor * sum over k of x_k c(k, j), for one row and a tile of j.
template <bool keep, class Count>
void combine_tile(double* y, const double* x, const SmallMatrix& c, std::int64_t j, Count width,
                  double factor) {
  double tile[kTile] = {};
  const double* line = c.data() + j;
  for (std::int64_t k = 0; k < c.rows(); ++k, line += c.cols())
    for (std::int64_t t = 0; t < width; ++t) tile[t] += x[k] * line[t];
  for (std::int64_t t = 0; t < width; ++t) y[j + t] = (keep ? y[j + t] : 0) + factor * tile[t];
}

template <bool keep>
void combine(MultiVector<double> y, MultiVector<const double> x, const SmallMatrix& c,
             double factor) {
  using Full = std::integral_constant<std::int64_t, kTile>;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < y.rows; ++row) {
    std::int64_t j = 0;
    for (; j + kTile <= y.width; j += kTile)
      combine_tile<keep>(y.row(row), x.row(row), c, j, Full(), factor);
    if (j < y.width) combine_tile<keep>(y.row(row), x.row(row), c, j, y.width - j, factor);
  }
}

}  // namespace

void TallVectors::gram(MultiVector<const double> a, MultiVector<const double> b) {
  SmallMatrix& result = pending_.emplace_back(a.width, b.width);
  const auto size = static_cast<std::int64_t>(result.size());
  const std::int64_t rows = chunk_rows(a.rows);
  const std::int64_t chunks = (a.rows + rows - 1) / rows;
  partials_.resize(static_cast<std::size_t>(chunks * size));
#pragma omp parallel for schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    double* const sums = partials_.data() + chunk * size;
    std::fill_n(sums, size, 0.0);
    const std::int64_t end = std::min((chunk + 1) * rows, a.rows);
    for (std::int64_t first = chunk * rows; first < end; first += kStripRows)
      gram_rows(a, b, first, std::min(first + kStripRows, end), sums);
  }
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    for (std::int64_t k = 0; k < size; ++k) result.data()[k] += partials_[chunk * size + k];
}

std::vector<SmallMatrix> TallVectors::grams() {
  std::vector<double> all;
  for (const SmallMatrix& matrix : pending_)
    all.insert(all.end(), matrix.data(), matrix.data() + matrix.size());
  system_.sum(all);
  const double* from = all.data();
  for (SmallMatrix& matrix : pending_) {
    std::copy_n(from, matrix.size(), matrix.data());
    from += matrix.size();
  }
  return std::exchange(pending_, {});
}

void TallVectors::add(MultiVector<double> y, MultiVector<const double> x, const SmallMatrix& c) {
  combine<true>(y, x, c, 1);
}
void TallVectors::subtract(MultiVector<double> y, MultiVector<const double> x,
                           const SmallMatrix& c) {
  combine<true>(y, x, c, -1);
}
void TallVectors::set(MultiVector<double> y, MultiVector<const double> x, const SmallMatrix& c) {
  combine<false>(y, x, c, 1);
}

}  // namespace trireme::solvers
