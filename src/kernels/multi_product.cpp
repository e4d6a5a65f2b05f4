// SPDX-License-Identifier: BSD-3-Clause
// Copies vectors between layouts around the products of a kernel.
#include "kernels/multi_product.hpp"

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
    : kernel_(&kernel), rows_(rows), cols_(cols) {}

template <class Value>
void MultiProduct<Value>::multiply(MultiVector<const Value> x, MultiVector<Value> y,
                                   Accumulate accumulate) {
  if (x.rows != cols_ || y.rows != rows_ || x.width != y.width)
    fail(ExitCode::internal,
         "a product of a {} x {} matrix was asked for with {} vectors of {} elements and {} "
         "results of {} elements",
         rows_, cols_, x.width, x.rows, y.width, y.rows);
  if (share_memory<Value>(x, y))
    fail(ExitCode::internal, "the vectors of a product share memory with its results");
  if (kernel_->multiplies_vectors())
    multiply_side_by_side(x, y, accumulate);
  else
    multiply_one_by_one(x, y, accumulate);
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
