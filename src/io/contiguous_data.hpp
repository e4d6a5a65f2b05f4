// SPDX-License-Identifier: BSD-3-Clause
// Numbers that lie in an HDF5 file as one piece and in this machine's own format. Any number of
// threads may read them at a time, without HDF5.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <string>

namespace trireme::hdf5 {

class ContiguousData {
 public:
  enum class Number { int32, int64, float32, float64 };

  // Where the numbers of `dataset` lie. Empty unless the file is open for reading only, by the
  // driver for plain files, and the dataset is contiguous, lies in the file itself and has one of
  // the types above in native byte order. HDF5's own reader must read all other datasets.
  static std::optional<ContiguousData> of(hid_t dataset);

  // Whether the numbers can be read as T: integers as integers, real numbers as real numbers that
  // have at least as many bits.
  template <class T>
  bool readable_as() const;

  // Reads the numbers [first, first + count), which must exist, into `into`. Integers that do not
  // fit into T are clipped, as by HDF5. Throws Error{input}, whose message begins with `name`,
  // where the file ends early or the system cannot read it. The dataset must be open.
  template <class T>
  void read(std::int64_t first, std::int64_t count, T* into, const std::string& name) const;

 private:
  ContiguousData(int file, std::int64_t offset, Number number)
      : file_(file), offset_(offset), number_(number) {}

  int file_;  // a descriptor, which belongs to HDF5
  std::int64_t offset_;
  Number number_;
};

}  // namespace trireme::hdf5
