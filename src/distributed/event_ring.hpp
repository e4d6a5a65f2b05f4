// SPDX-License-Identifier: BSD-3-Clause
// When the last products on a GPU began and ended, without anyone waiting for them meanwhile.
#pragma once

#include <cstddef>
#include <vector>

#include "device/stream.hpp"
#include "distributed/product_times.hpp"

namespace trireme {

// begin(), the product, end(): all queued in one stream.
class EventRing {
 public:
  void begin(StreamRef stream);
  void end(StreamRef stream);
  // Adds the products since the last call to `times`, those that the ring has lost by number only.
  // Waits for the last one.
  void read_into(ProductTimes& times);

 private:
  struct Timed {
    Event begin, end;
  };

  std::vector<Timed> ring_;   // grows to its full length
  std::size_t launched_ = 0;  // since the last reading
};

}  // namespace trireme
