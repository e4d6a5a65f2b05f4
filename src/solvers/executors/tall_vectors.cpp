// SPDX-License-Identifier: BSD-3-Clause
// One loop that keeps a tile of the result in registers, compiled for several instruction sets.
#include "solvers/executors/tall_vectors.hpp"

#include <algorithm>
#include <utility>

// The program chooses among the copies when it starts. The address sanitizer is not ready by then.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TRIREME_COPIES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TRIREME_COPIES
#endif

namespace trireme::solvers {
namespace {

constexpr std::int64_t kHeight = 4, kWidth = 8;  // of a tile
constexpr std::int64_t kStripRows = 64;          // of both vectors stay in the first cache
constexpr std::int64_t kMaxChunks = 256;

// The rows that one thread sums; they depend on the number of rows only.
std::int64_t chunk_rows(std::int64_t rows) {
  return std::max<std::int64_t>(512, (rows + kMaxChunks - 1) / kMaxChunks);
}

// A matrix in memory: element (i, j) at data[i * row_stride + j * col_stride].
template <class Element>
struct Strided {
  Element* data;
  std::int64_t row_stride, col_stride;
};

// C += factor * A B for the tile of C at its first row and column; `inner` is the number of columns
// of A. B and C have a column stride of 1.
template <int height, int width>
inline void multiply_tile(Strided<const double> a, Strided<const double> b, Strided<double> c,
                          std::int64_t inner, double factor) {
  double tile[height][width] = {};
  for (std::int64_t t = 0; t < inner; ++t) {
    const double* const line = b.data + t * b.row_stride;
#pragma GCC unroll 4
    for (int y = 0; y < height; ++y) {
      const double left = a.data[y * a.row_stride + t * a.col_stride];
#pragma omp simd
      for (int x = 0; x < width; ++x) tile[y][x] += left * line[x];
    }
  }
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) c.data[y * c.row_stride + x] += factor * tile[y][x];
}

// C += factor * A B, where C has `rows` rows and `cols` columns.
TRIREME_COPIES void multiply_add(Strided<const double> a, Strided<const double> b,
                                 Strided<double> c, std::int64_t rows, std::int64_t inner,
                                 std::int64_t cols, double factor) {
  std::int64_t i = 0;
  for (; i < rows; i += i + kHeight <= rows ? kHeight : 1) {
    const bool high = i + kHeight <= rows;
    const Strided<const double> left{a.data + i * a.row_stride, a.row_stride, a.col_stride};
    std::int64_t j = 0;
    while (j < cols) {
      const Strided<const double> right{b.data + j, b.row_stride, 1};
      const Strided<double> result{c.data + i * c.row_stride + j, c.row_stride, 1};
      const std::int64_t width = j + kWidth <= cols ? kWidth : j + 4 <= cols ? 4 : 1;
      if (width == kWidth)
        high ? multiply_tile<kHeight, kWidth>(left, right, result, inner, factor)
             : multiply_tile<1, kWidth>(left, right, result, inner, factor);
      else if (width == 4)
        high ? multiply_tile<kHeight, 4>(left, right, result, inner, factor)
             : multiply_tile<1, 4>(left, right, result, inner, factor);
      else
        high ? multiply_tile<kHeight, 1>(left, right, result, inner, factor)
             : multiply_tile<1, 1>(left, right, result, inner, factor);
      j += width;
    }
  }
}

// Y += factor * X C
void combine(MultiVector<double> y, MultiVector<const double> x, const SmallMatrix& c,
             double factor) {
  const std::int64_t strips = (y.rows + kStripRows - 1) / kStripRows;
#pragma omp parallel for schedule(static)
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const std::int64_t first = strip * kStripRows;
    multiply_add({x.row(first), x.row_stride, 1}, {c.data(), c.cols(), 1},
                 {y.row(first), y.row_stride, 1}, std::min(kStripRows, y.rows - first), c.rows(),
                 c.cols(), factor);
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
      multiply_add({a.row(first), 1, a.row_stride}, {b.row(first), b.row_stride, 1},
                   {sums, b.width, 1}, a.width, std::min(kStripRows, end - first), b.width, 1);
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
  combine(y, x, c, 1);
}
void TallVectors::subtract(MultiVector<double> y, MultiVector<const double> x,
                           const SmallMatrix& c) {
  combine(y, x, c, -1);
}
void TallVectors::set(MultiVector<double> y, MultiVector<const double> x, const SmallMatrix& c) {
  const std::int64_t count = y.rows * y.width;
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < count; ++k) y.data[k] = 0;
  combine(y, x, c, 1);
}

}  // namespace trireme::solvers
