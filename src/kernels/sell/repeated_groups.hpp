// SPDX-License-Identifier: BSD-3-Clause
// Multiplies repeated rows (layout.hpp) in FP32 by groups of four neighbouring rows. Groups repeat
// as rows do. A lane that has a group reads four numbers of x by one load of 16 bytes, and the
// pattern of the group once. Four lanes with a row each would take four loads and four patterns.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "kernels/sell/device_layout.hpp"

namespace trireme::sell {

class RepeatedGroups {
 public:
  RepeatedGroups() = default;
  // Empty where the product by rows is as fast. Otherwise finds the groups and synchronises
  // `stream`. New values of the layout need no new groups, as long as its rows repeat.
  RepeatedGroups(const DeviceLayout<float>& layout, StreamRef stream);

  // Whether multiply() may be called with these vectors, which must begin at a multiple of 16
  // bytes.
  bool takes(DeviceSpan<const float> x, DeviceSpan<const float> x_of_rows,
             DeviceSpan<float> y) const;
  int partials() const { return blocks_; }
  std::int64_t stored_bytes() const;
  // As RepeatedProduct::multiply(), with the same bits in y.
  void multiply(const DeviceLayout<float>& layout, DeviceSpan<const float> x,
                DeviceSpan<const float> x_of_rows, DeviceSpan<const float> diagonal,
                DeviceSpan<float> y, DeviceSpan<double> dots, StreamRef stream) const;

 private:
  int blocks_ = 0;
  std::int32_t width_ = 0;                  // entries of a group's pattern, with padding
  DeviceBuffer<std::uint16_t> of_groups_;   // the pattern of each group
  DeviceBuffer<std::int32_t> differences_;  // width_ per pattern: columns, less the first row's
  DeviceBuffer<std::int32_t> places_;       // four per difference: where each row's value is, or -1
};

}  // namespace trireme::sell
