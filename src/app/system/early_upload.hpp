// SPDX-License-Identifier: BSD-3-Clause
// Uploads the entries of a matrix while they are read.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "app/system/missing_ranges.hpp"
#include "device/buffer.hpp"
#include "device/piece_uploader.hpp"
#include "device/stream.hpp"
#include "device/uploader.hpp"
#include "distributed/device_blocks.hpp"
#include "io/entries_sink.hpp"
#include "kernels/blocked_device_csr.hpp"

namespace trireme {

// One thread reads, and another one opens the GPU meanwhile. Entries that are read before the GPU
// is open, or for which it has no memory, go up in finish(). The copy is the matrix only where the
// local block is what was read: one rank owns all columns, and no entry was moved, summed or scaled
// since.
class EarlyUpload final : public EntriesSink {
 public:
  // Takes no entries where those of `entries` would not stay (DeviceBlocks).
  explicit EarlyUpload(Entries entries = Entries::needed) : entries_of_case_(entries) {}

  // From here on, entries go to the current device. `threads` threads read. Does nothing after
  // end().
  void open(int threads);
  // The reader passes no more entries.
  void end();

  void begin(std::int64_t entries) override;
  void columns(std::int64_t first, std::span<const std::int32_t> columns) override;
  void values(std::int64_t first, std::span<const double> values) override;

  // Whether a reader has passed all entries, of which at least one has gone up.
  bool has_entries() const { return begun_ && on_; }
  // Uploads the rest of `csr`, the matrix whose entries were read, and gives the copy away. It is
  // complete after the work that `stream` holds. has_entries() must be true.
  BlockedDeviceCsr<double> finish(const CsrMatrix<double>& csr, Uploader& uploader,
                                  StreamRef stream);

  // Frees the memory on the GPU. No reader may pass entries any more.
  void drop();

 private:
  template <class T>
  struct Copied {
    DeviceBuffer<T> on_device;
    MissingRanges missing;
  };
  void allocate();
  template <class T>
  void send(std::int64_t first, std::span<const T> numbers, Copied<T>& into);
  template <class T>
  DeviceBuffer<T> complete(std::span<const T> numbers, Copied<T>& copied, Uploader& uploader,
                           StreamRef stream);

  std::mutex mutex_;  // of open() and begin()
  std::optional<PieceUploader> uploader_;
  std::optional<Stream> stream_;
  Entries entries_of_case_;
  std::int64_t entries_ = 0;
  bool begun_ = false, ended_ = false;
  std::atomic<bool> on_ = false;  // there is memory on the GPU
  Copied<std::int32_t> columns_;
  Copied<double> values_;
};

}  // namespace trireme
