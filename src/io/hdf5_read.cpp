// SPDX-License-Identifier: BSD-3-Clause
// Reads datasets in pieces: by all threads where the data lie in the file as one piece, else by
// HDF5, which takes one call at a time.
#include <algorithm>
#include <exception>
#include <mutex>

#include "base/error.hpp"
#include "io/hdf5.hpp"

namespace trireme::hdf5 {
namespace {

constexpr std::int64_t kPiece = 1 << 17;  // numbers: at most 1 MiB, which fits into a core's cache

// Calls work(at, count) for the pieces of [0, total), each thread for a contiguous part of them and
// with its own copy of `work`. Rethrows the first exception; no piece begins after one.
template <class Work>
void in_pieces(std::int64_t total, std::int64_t piece, Work work) {
  const std::int64_t pieces = (total + piece - 1) / piece;
  std::exception_ptr failure;
  std::mutex mutex;
  bool failed = false;
#pragma omp parallel for schedule(static) firstprivate(work) if (pieces > 1)
  for (std::int64_t p = 0; p < pieces; ++p) {
    bool skip = false;
#pragma omp atomic read
    skip = failed;
    if (skip) continue;
    try {
      work(p * piece, std::min(piece, total - p * piece));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
#pragma omp atomic write
      failed = true;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::int64_t Dataset::row_numbers() const {
  std::int64_t numbers = 1;
  for (std::size_t i = 1; i < extents_.size(); ++i) numbers *= extents_[i];
  return numbers;
}

template <class T>
bool Dataset::readable_directly() const {
  return direct_ && direct_->readable_as<T>();
}

template <class T>
void Dataset::read(std::int64_t first, std::int64_t count, T* into,
                   const std::type_identity_t<Look<T>>& look) const {
  if (count == 0) return;
  const std::int64_t width = row_numbers();
  const auto look_at = [&](std::int64_t at, std::int64_t numbers) {
    if (look) look(at, std::span<const T>(into + at, numbers));
  };
  if (readable_directly<T>() && first + count <= extents_[0]) {
    in_pieces(count * width, kPiece, [&](std::int64_t at, std::int64_t numbers) {
      direct_->read(first * width + at, numbers, into + at, name_);
      look_at(at, numbers);
    });
  } else {
    read_block(rows(first, count), memory_type<T>(), into);
    in_pieces(count * width, kPiece, look_at);
  }
}

template <class T>
void Dataset::read_in_row(std::int64_t row, std::int64_t first, std::int64_t count, T* into,
                          const std::type_identity_t<Look<T>>& look) const {
  if (count == 0) return;
  const bool direct = readable_directly<T>() && extents_.size() == 2 && row < extents_[0] &&
                      first + count <= extents_[1];
  if (!direct) read_block(in_row(row, first, count), memory_type<T>(), into);
  in_pieces(count, kPiece, [&](std::int64_t at, std::int64_t numbers) {
    if (direct) direct_->read(row * extents_[1] + first + at, numbers, into + at, name_);
    if (look) look(at, std::span<const T>(into + at, numbers));
  });
}

template <class T>
void Dataset::stream(std::int64_t first, std::int64_t count, const Look<T>& look) const {
  if (count == 0) return;
  const std::int64_t width = row_numbers();
  const std::int64_t step = std::max<std::int64_t>(1, kPiece / std::max<std::int64_t>(width, 1));
  if (readable_directly<T>() && first + count <= extents_[0]) {
    in_pieces(count, step, [&, block = Array<T>()](std::int64_t at, std::int64_t here) mutable {
      block.resize(here * width);
      direct_->read((first + at) * width, here * width, block.data(), name_);
      look(at * width, block);
    });
  } else {
    Array<T> block(std::min(step, count) * width);
    for (std::int64_t at = 0; at < count; at += step) {
      const std::int64_t here = std::min(step, count - at);
      read_block(rows(first + at, here), memory_type<T>(), block.data());
      look(at * width, std::span<const T>(block.data(), here * width));
    }
  }
}

template void Dataset::read(std::int64_t, std::int64_t, std::int32_t*,
                            const Look<std::int32_t>&) const;
template void Dataset::read(std::int64_t, std::int64_t, std::int64_t*,
                            const Look<std::int64_t>&) const;
template void Dataset::read(std::int64_t, std::int64_t, float*, const Look<float>&) const;
template void Dataset::read(std::int64_t, std::int64_t, double*, const Look<double>&) const;
template void Dataset::read_in_row(std::int64_t, std::int64_t, std::int64_t, double*,
                                   const Look<double>&) const;
template void Dataset::stream(std::int64_t, std::int64_t, const Look<std::int64_t>&) const;
template void Dataset::stream(std::int64_t, std::int64_t, const Look<double>&) const;

}  // namespace trireme::hdf5
