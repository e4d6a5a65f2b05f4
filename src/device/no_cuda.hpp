// SPDX-License-Identifier: BSD-3-Clause
// What a build without CUDA has in place of a function that needs a device.
#pragma once

#include "base/error.hpp"

namespace trireme {

[[noreturn]] inline void no_cuda() {
  fail(ExitCode::resource, "this Trireme was built without CUDA; use device: cpu");
}

}  // namespace trireme
