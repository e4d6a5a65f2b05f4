// SPDX-License-Identifier: BSD-3-Clause
// What a CUDA graph may do with calls that queue work.
#pragma once

namespace trireme {

enum class Recording {
  none,    // the host takes part in each call
  replay,  // a graph that the host launches may hold them
  loop     // also a graph that loops on the device
};

}  // namespace trireme
