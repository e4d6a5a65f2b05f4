// SPDX-License-Identifier: BSD-3-Clause
// Who takes the entries of a matrix while they are read, such as an upload to a GPU.
#pragma once

#include <cstdint>
#include <span>

namespace trireme {

// A reader that knows sinks passes every entry of this rank's rows to its sink once, in pieces, in
// the order of the file: entry k has the column and the value with the number k, counted from the
// first entry of the rank. The reader may still refuse the entries, or sort and sum them, after it
// has passed them on: what the sink holds is the matrix where MatrixOnRanks::in_stored_order says
// so.
class EntriesSink {
 public:
  virtual ~EntriesSink() = default;

  // The rank has `entries` entries. Called once, before the other functions.
  virtual void begin(std::int64_t entries) = 0;
  // Entries from number `first` on. Any number of threads call these functions at a time; they may
  // not throw, and the numbers are in the cache of the calling thread.
  virtual void columns(std::int64_t first, std::span<const std::int32_t> columns) = 0;
  virtual void values(std::int64_t first, std::span<const double> values) = 0;
};

}  // namespace trireme
