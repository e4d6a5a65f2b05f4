// SPDX-License-Identifier: BSD-3-Clause
// Copies vectors between layouts around the products of a kernel.
#include "kernels/multi_product.hpp"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <span>

#include "base/error.hpp"

namespace trireme {
namespace {

template <class From, class To>
void copy(MultiVector<From> from, MultiVector<To> to) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < from.rows; ++i)
    for (std::int64_t j = 0; j < from.width; ++j) to(i, j) = from(i, j);
}

// The address behind the last element.
template <class Element>
const Element* end_of(MultiVector<Element> v) {
  return v.rows > 0 && v.width > 0 ? &v(v.rows - 1, v.width - 1) + 1 : v.data;
}

template <class Value>
bool share_memory(MultiVector<const Value> x, MultiVector<const Value> y) {
  const std::less<const Value*> before;
  return before(x.data, end_of(y)) && before(y.data, end_of(x));
}

template <class Value>
void reserve(Array<Value>& array, std::int64_t size) {
  if (static_cast<std::int64_t>(array.size()) < size) array.resize(size);
}

}  // namespace

template <class Value>
MultiProduct<Value>::MultiProduct(HostKernel<Value>& kernel, std::int64_t rows, std::int64_t cols)
    : kernel_(&kernel),
      rows_(rows),
      cols_(cols),
      by_rows_(dynamic_cast<const RowProduct<Value>*>(&kernel)) {}

template <class Value>
void MultiProduct<Value>::check(MultiVector<const Value> x, MultiVector<Value> y) const {
  if (x.rows != cols_ || y.rows != rows_ || x.width != y.width)
    fail(ExitCode::internal,
         "a product of a {} x {} matrix was asked for with {} vectors of {} elements and {} "
         "results of {} elements",
         rows_, cols_, x.width, x.rows, y.width, y.rows);
  if (share_memory<Value>(x, y))
    fail(ExitCode::internal, "the vectors of a product share memory with its results");
}

template <class Value>
void MultiProduct<Value>::multiply(MultiVector<const Value> x, MultiVector<Value> y,
                                   Accumulate accumulate) {
  check(x, y);
  if (kernel_->multiplies_vectors())
    multiply_side_by_side(x, y, accumulate);
  else
    multiply_one_by_one(x, y, accumulate);
}

template <class Value>
typename MultiProduct<Value>::Shares MultiProduct<Value>::cut(std::int64_t chunk_rows,
                                                              std::int64_t threads) const {
  constexpr std::int64_t kSmallPart = 256;
  const std::int64_t chunks = (rows_ + chunk_rows - 1) / chunk_rows;
  const auto before = [&](std::int64_t chunk) {
    return by_rows_->nonzeros_before(std::min(chunk * chunk_rows, rows_));
  };
  const std::int64_t nnz = before(chunks);
  // Chunks of the same size are even, also where they are few.
  const std::int64_t allowed =
      std::max(nnz / kSmallPart, 2 * nnz / std::max<std::int64_t>(1, chunks));
  Shares shares{.chunk_rows = chunk_rows, .even = true, .begin = {0}};
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    shares.even = shares.even && before(chunk + 1) - before(chunk) <= allowed;
    while (std::ssize(shares.begin) < threads &&
           before(chunk) * threads >= nnz * std::ssize(shares.begin))
      shares.begin.push_back(chunk);
  }
  shares.begin.resize(static_cast<std::size_t>(threads), chunks);
  shares.begin.push_back(chunks);
  return shares;
}

template <class Value>
bool MultiProduct<Value>::multiply_and_dot(MultiVector<const Value> x, MultiVector<Value> y,
                                           std::int64_t chunk_rows, Value* dots) {
  check(x, y);
  if (!by_rows_ || !x.side_by_side() || !y.side_by_side()) return false;
  const std::int64_t threads = omp_get_max_threads();
  if (shares_.chunk_rows != chunk_rows || std::ssize(shares_.begin) != threads + 1)
    shares_ = cut(chunk_rows, threads);
  if (!shares_.even) return false;
#pragma omp parallel for schedule(static, 1)
  for (std::int64_t thread = 0; thread < threads; ++thread)
    for (std::int64_t chunk = shares_.begin[thread]; chunk < shares_.begin[thread + 1]; ++chunk) {
      Value* const sums = dots + chunk * x.width;
      std::fill_n(sums, x.width, Value());
      by_rows_->multiply_and_dot(x, y, chunk * chunk_rows,
                                 std::min((chunk + 1) * chunk_rows, rows_), sums);
    }
  return true;
}

template <class Value>
void MultiProduct<Value>::multiply_side_by_side(MultiVector<const Value> x, MultiVector<Value> y,
                                                Accumulate how) {
  if (!x.side_by_side()) {
    reserve(x_, x.rows * x.width);
    const auto brought = side_by_side(x_.data(), x.rows, x.width);
    copy(x, brought);
    x = brought;
  }
  if (y.side_by_side()) return kernel_->multi_multiply(x, y, how);
  reserve(y_, y.rows * y.width);
  const auto inner = side_by_side(y_.data(), y.rows, y.width);
  if (how == Accumulate::yes) copy(y, inner);
  kernel_->multi_multiply(x, inner, how);
  copy(inner, y);
}

template <class Value>
void MultiProduct<Value>::multiply_one_by_one(MultiVector<const Value> x, MultiVector<Value> y,
                                              Accumulate how) {
  if (x.row_stride != 1) reserve(x_, x.rows);
  if (y.row_stride != 1) reserve(y_, y.rows);
  for (std::int64_t j = 0; j < x.width; ++j) {
    MultiVector<const Value> from = x.vectors(j, 1);
    MultiVector<Value> to = y.vectors(j, 1);
    if (from.row_stride != 1) {
      const auto brought = one_after_the_other(x_.data(), x.rows, 1);
      copy(from, brought);
      from = brought;
    }
    if (to.row_stride != 1) {
      const auto inner = one_after_the_other(y_.data(), y.rows, 1);
      if (how == Accumulate::yes) copy(to, inner);
      to = inner;
    }
    kernel_->multiply(std::span(from.data, x.rows), std::span(to.data, y.rows), how);
    if (y.row_stride != 1) copy(to, y.vectors(j, 1));
  }
}

template class MultiProduct<double>;
template class MultiProduct<float>;
template class MultiProduct<std::int32_t>;

}  // namespace trireme
