// SPDX-License-Identifier: BSD-3-Clause
// Pieces go through the pinned chunks of the uploader; what is missing goes up at the end.
#include "app/system/early_upload.hpp"

#include <utility>

#include "base/error.hpp"

namespace trireme {

void EarlyUpload::open(int threads) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  uploader_.emplace(threads + 1);
  stream_.emplace();
  if (begun_) allocate();
}

void EarlyUpload::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

void EarlyUpload::begin(std::int64_t entries) {
  const std::lock_guard lock(mutex_);
  entries_ = entries;
  begun_ = true;
  if (uploader_) allocate();
}

// Where the memory does not suffice, the upload after reading says so.
void EarlyUpload::allocate() {
  try {
    uploader_->select_its_device();
    if (entries_of_case_ != Entries::needed &&
        !DeviceBlocks::entries_fit_well(0, static_cast<double>(entries_)))
      return;
    columns_.on_device = DeviceBuffer<std::int32_t>(entries_, *stream_);
    values_.on_device = DeviceBuffer<double>(entries_, *stream_);
    on_ = true;
  } catch (const Error&) {
  }
}

template <class T>
void EarlyUpload::send(std::int64_t first, std::span<const T> numbers, Copied<T>& into) {
  bool sent = false;
  if (on_) {
    const DeviceSpan<T> to{into.on_device.data() + first, numbers.size()};
    try {
      sent = uploader_->copy(numbers, to, *stream_);
    } catch (const Error&) {  // finish() meets the same failure
    }
  }
  if (!sent) into.missing.add(first, std::ssize(numbers));
}

void EarlyUpload::columns(std::int64_t first, std::span<const std::int32_t> columns) {
  send(first, columns, columns_);
}

void EarlyUpload::values(std::int64_t first, std::span<const double> values) {
  send(first, values, values_);
}

template <class T>
DeviceBuffer<T> EarlyUpload::complete(std::span<const T> numbers, Copied<T>& copied,
                                      Uploader& uploader, StreamRef stream) {
  for (const MissingRanges::Range& range : copied.missing.joined()) {
    const auto first = static_cast<std::size_t>(range.first);
    const auto count = static_cast<std::size_t>(range.count);
    uploader.copy(numbers.subspan(first, count), {copied.on_device.data() + first, count}, stream);
  }
  return std::move(copied.on_device);
}

BlockedDeviceCsr<double> EarlyUpload::finish(const CsrMatrix<double>& csr, Uploader& uploader,
                                             StreamRef stream) {
  stream_->synchronize();
  return {
      {csr.rows, csr.cols, uploader.to_device(std::span<const std::int32_t>(csr.row_ptr), stream),
       complete(std::span<const std::int32_t>(csr.col_idx), columns_, uploader, stream),
       complete(std::span<const double>(csr.values), values_, uploader, stream)},
      later_blocks(csr)};
}

void EarlyUpload::drop() {
  on_ = false;
  columns_.on_device = {};
  values_.on_device = {};
}

}  // namespace trireme
