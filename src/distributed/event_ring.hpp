// SPDX-License-Identifier: BSD-3-Clause
// The times of products on a GPU, measured by events so that the host need not wait for each one.
#pragma once

#include <cstddef>
#include <vector>

#include "device/stream.hpp"
#include "distributed/product_times.hpp"

namespace trireme {

// begin(), the product and end() are queued in one stream, in this order.
class EventRing {
 public:
  void begin(StreamRef stream);
  void end(StreamRef stream);
  // Adds the products since the last call to `times`, and waits for the last of them. Of more than
  // 4096 products, the older ones are counted but have no times.
  void read_into(ProductTimes& times);

 private:
  struct Timed {
    Event begin, end;
  };

  std::vector<Timed> ring_;   // grows up to its full length
  std::size_t launched_ = 0;  // products since the last read_into()
};

}  // namespace trireme
