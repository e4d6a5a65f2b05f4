// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "factors/cuda/device_numbers.hpp"
#include "factors/cuda/number_kernels.cuh"
#include "factors/rules.hpp"

namespace trireme::factors {
namespace {

using namespace number_kernels;

constexpr unsigned kThreads = kWarps * 32;
// Rows that a warp takes at once, one more for so many rows per level.
constexpr std::int64_t kRowsOfLevelPerRow = 4096;
constexpr std::int64_t kMostRowsAtOnce = 8;
constexpr std::int64_t kLeastWarps = 256;

unsigned blocks_of_rows(std::int64_t rows) {
  constexpr std::int64_t kMostBlocks = 1 << 14;
  return static_cast<unsigned>(std::min((rows + kWarps - 1) / kWarps, kMostBlocks));
}

Pattern view_of(const DevicePattern& p) {
  return {static_cast<std::int32_t>(p.rows), p.row_ptr.data(), p.col_idx.data(), p.diagonal.data(),
          p.by_level.data()};
}

Counts read(const ScratchBuffer<Counts>& counts, StreamRef stream) {
  Counts host;
  copy_to_host(counts.view(), std::span(&host, 1), stream);
  synchronize(stream);
  return host;
}

}  // namespace

DevicePattern to_device(const FactorPattern& pattern, const DeviceCsr<double>& a,
                        StreamRef stream) {
  const auto upload = [&](const Array<std::int32_t>& array) {
    return trireme::to_device(std::span<const std::int32_t>(array), stream);
  };
  DevicePattern on_device;
  on_device.rows = pattern.rows;
  on_device.levels = pattern.lower.count();
  for (std::int64_t i = 0; i < pattern.rows; ++i)
    on_device.longest = std::max(on_device.longest, pattern.row_ptr[i + 1] - pattern.row_ptr[i]);
  on_device.diagonal = upload(pattern.diagonal);
  on_device.has_entries_of_a = pattern.has_entries_of_a;
  if (pattern.has_entries_of_a) {
    const auto copy_of = [&](DeviceSpan<const std::int32_t> array) {
      DeviceBuffer<std::int32_t> copy(array.size(), stream);
      copy_on_device(array, copy.span(), stream);
      return copy;
    };
    on_device.row_ptr = copy_of(a.row_ptr);
    on_device.col_idx = copy_of(a.col_idx);
  } else {
    on_device.row_ptr = upload(pattern.row_ptr);
    on_device.col_idx = upload(pattern.col_idx);
    on_device.place = upload(pattern.place);
  }
  on_device.by_level = upload(pattern.lower.rows);
  synchronize(stream);
  return on_device;
}

DeviceNumbers make_numbers_on_device(const DevicePattern& pattern, const DeviceCsr<double>& a,
                                     bool definite, StreamRef stream) {
  DeviceNumbers made;
  if (pattern.rows == 0) return made;
  const auto rows = static_cast<std::size_t>(pattern.rows);
  const auto nnz = static_cast<std::size_t>(pattern.nnz());
  const bool has_long_rows = pattern.longest > kShortRow;
  const Pattern p = view_of(pattern);
  const unsigned blocks = blocks_of_rows(pattern.rows);
  ScratchBuffer<double> of_a(nnz, stream), largest(rows, stream);
  ScratchBuffer<double> long_rows(has_long_rows ? nnz : 0, stream);
  ScratchBuffer<Counts> counts(1, stream);
  made.values = ScratchBuffer<double>(nnz, stream);

  if (pattern.has_entries_of_a) {
    copy_on_device(a.values, of_a.span(), stream);
  } else {
    fill_zero(of_a.span(), stream);
    add_entries<<<blocks, kThreads, 0, stream>>>(a.rows, a.row_ptr.data(), a.values.data(),
                                                 pattern.place.data(), of_a.data());
    check_launch();
  }
  find_largest<<<blocks, kThreads, 0, stream>>>(p, of_a.data(), largest.data());
  check_launch();
  const std::int64_t of_level = pattern.rows / std::max<std::int64_t>(pattern.levels, 1);
  const auto at_once =
      static_cast<int>(std::min(1 + of_level / kRowsOfLevelPerRow, kMostRowsAtOnce));
  // Where levels are small, warps far ahead would only look for numbers again and again.
  constexpr std::int64_t kLevelsAtOnce = 16;
  const unsigned of_levels = std::min(
      blocks, blocks_of_rows(std::max<std::int64_t>(kLevelsAtOnce * of_level, kLeastWarps)));
  Counts found;
  for (;; made.shift = next_shift(made.shift)) {
    fill_nan(made.values.span(), stream);
    fill_zero(counts.span(), stream);
    eliminate<<<of_levels, kThreads, 0, stream>>>(p, at_once, of_a.data(), largest.data(),
                                                  made.shift, definite, long_rows.data(),
                                                  made.values.data(), counts.data());
    check_launch();
    found = read(counts, stream);
    if (!definite || found.spoiling == 0 || made.shift >= kMostShift) break;
  }
  made.replaced = found.replaced;
  if (definite) {
    mirror<<<blocks, kThreads, 0, stream>>>(p, made.values.data());
    check_launch();
  }
  check_range<<<blocks, kThreads, 0, stream>>>(p, made.values.data(), counts.data());
  check_launch();
  made.in_fp32 = read(counts, stream).beyond_fp32 == 0;
  return made;
}

}  // namespace trireme::factors
