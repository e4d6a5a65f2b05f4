// SPDX-License-Identifier: BSD-3-Clause
// Something that is done between two iterations: the loop is left for it and goes on afterwards.
#pragma once

#include <functional>

namespace trireme {

// How a loop goes on after an interlude, the later ones winning over the earlier ones.
enum class After : int {
  go_on,
  new_space,  // in a new Krylov space, from the present x
  leave       // not at all: the solve ends unconverged, with the present x
};

struct Interlude {
  std::function<bool()> due;   // asked in every iteration; the answer of rank 0 counts; null: never
  std::function<After()> run;  // collective
};

}  // namespace trireme
