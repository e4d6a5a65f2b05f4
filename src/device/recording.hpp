// SPDX-License-Identifier: BSD-3-Clause
// Whether calls that queue work may be recorded into a CUDA graph.
#pragma once

namespace trireme {

enum class Recording {
  none,    // not at all: the host takes part in each call
  replay,  // into a graph that the host launches
  loop     // also into a graph that loops on the device
};

}  // namespace trireme
