// SPDX-License-Identifier: BSD-3-Clause
// Packs and unpacks columns that do not lie side by side.
#include "solvers/executors/column_transfer.hpp"

#include <cstddef>

namespace trireme::solvers {
namespace {

template <class Element>
bool without_gaps(MultiVector<Element> v) {
  return v.vector_stride == 1 && v.row_stride == v.width;
}

}  // namespace

void ColumnTransfer::upload(MultiVector<const double> from, DeviceSpan<double> to,
                            StreamRef stream) {
  const auto size = static_cast<std::size_t>(from.rows * from.width);
  if (without_gaps(from))
    return uploader_.copy(std::span<const double>(from.data, size), to, stream);
  Array<double> packed(size);
  const MultiVector<double> in = side_by_side(packed.data(), from.rows, from.width);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < from.rows; ++i)
    for (std::int64_t j = 0; j < from.width; ++j) in(i, j) = from(i, j);
  uploader_.copy(std::span<const double>(packed), to, stream);
}

void ColumnTransfer::download(DeviceSpan<const double> from, MultiVector<double> to,
                              std::span<const std::int64_t> numbers, StreamRef stream) {
  if (without_gaps(to) && std::ssize(numbers) == to.width)
    return uploader_.copy_back(from, std::span<double>(to.data, from.size()), stream);
  Array<double> packed(static_cast<std::size_t>(to.rows * to.width));
  uploader_.copy_back(from, std::span<double>(packed), stream);
  const MultiVector<double> out = side_by_side(packed.data(), to.rows, to.width);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < to.rows; ++i)
    for (const std::int64_t j : numbers) to(i, j) = out(i, j);
}

}  // namespace trireme::solvers
