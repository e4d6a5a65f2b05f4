// SPDX-License-Identifier: BSD-3-Clause
// While the bus fills one pinned chunk, the threads empty the other one.
#include "solvers/executors/column_transfer.hpp"

#include <algorithm>
#include <cstddef>

namespace trireme::solvers {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;  // numbers; pinning 2 MB takes a millisecond

template <class Element>
bool without_gaps(MultiVector<Element> v) {
  return v.vector_stride == 1 && v.row_stride == v.width;
}

void copy_by_all_threads(const double* from, std::size_t count, double* to) {
  const auto size = static_cast<std::int64_t>(count);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < size; ++i) to[i] = from[i];
}

}  // namespace

void ColumnTransfer::upload(MultiVector<const double> from, DeviceSpan<double> to,
                            StreamRef stream) {
  const auto size = static_cast<std::size_t>(from.rows * from.width);
  if (without_gaps(from)) return upload_all(std::span<const double>(from.data, size), to, stream);
  Array<double> packed(size);
  const MultiVector<double> in = side_by_side(packed.data(), from.rows, from.width);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < from.rows; ++i)
    for (std::int64_t j = 0; j < from.width; ++j) in(i, j) = from(i, j);
  upload_all(packed, to, stream);
}

void ColumnTransfer::download(DeviceSpan<const double> from, MultiVector<double> to,
                              std::span<const std::int64_t> numbers, StreamRef stream) {
  if (without_gaps(to) && std::ssize(numbers) == to.width)
    return download_all(from, to.data, stream);
  Array<double> packed(static_cast<std::size_t>(to.rows * to.width));
  download_all(from, packed.data(), stream);
  const MultiVector<double> out = side_by_side(packed.data(), to.rows, to.width);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < to.rows; ++i)
    for (const std::int64_t j : numbers) to(i, j) = out(i, j);
}

void ColumnTransfer::upload_all(std::span<const double> from, DeviceSpan<double> to,
                                StreamRef stream) {
  if (!uploader_) uploader_.emplace();
  uploader_->copy(from, to, stream);
}

void ColumnTransfer::make_chunks() {
  if (!is_filled_.empty()) return;
  chunks_ = PinnedBuffer<double>(2 * kChunk);
  for (int k = 0; k < 2; ++k) is_filled_.emplace_back(Timing::no);
}

void ColumnTransfer::upload_one(std::span<const double> from, DeviceSpan<double> to,
                                StreamRef stream) {
  make_chunks();
  for (std::size_t first = 0; first < from.size(); first += kChunk) {
    const std::size_t which = first / kChunk % 2;
    const std::size_t count = std::min(kChunk, from.size() - first);
    double* const chunk = chunks_.data() + which * kChunk;
    is_filled_[which].synchronize();  // the last copy from or to this chunk
    copy_by_all_threads(from.data() + first, count, chunk);
    memory::copy(to.data() + first, chunk, count * sizeof(double), stream);
    is_filled_[which].record(stream);
  }
}

void ColumnTransfer::download_one(DeviceSpan<const double> from, std::span<double> to,
                                  StreamRef stream) {
  download_all(from, to.data(), stream);
}

void ColumnTransfer::download_all(DeviceSpan<const double> from, double* to, StreamRef stream) {
  make_chunks();
  const auto empty = [&](std::size_t first) {
    const std::size_t which = first / kChunk % 2;
    is_filled_[which].synchronize();
    copy_by_all_threads(chunks_.data() + which * kChunk, std::min(kChunk, from.size() - first),
                        to + first);
  };
  for (std::size_t first = 0; first < from.size(); first += kChunk) {
    const std::size_t which = first / kChunk % 2;
    const std::size_t count = std::min(kChunk, from.size() - first);
    memory::copy(chunks_.data() + which * kChunk, from.data() + first, count * sizeof(double),
                 stream);
    is_filled_[which].record(stream);
    if (first > 0) empty(first - kChunk);
  }
  if (from.size() > 0) empty((from.size() - 1) / kChunk * kChunk);
}

}  // namespace trireme::solvers
