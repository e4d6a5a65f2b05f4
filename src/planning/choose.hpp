// SPDX-License-Identifier: BSD-3-Clause
// The one place where `kernel: auto` and `device: auto` are decided.
#pragma once

#include <string_view>

#include "kernels/registry.hpp"

namespace trireme {

// A documented rule for now; measuring comes later.
//   cpu:  albus. It balances nonzeros between threads whatever the row lengths, and its layout is
//         the CSR itself, so there is nothing to pay back.
//   cuda: dasp, whose three row classes cover short, medium and long rows alike.
// Where this build lacks that kernel for the device, csr or csr-vector. Always double precision.
std::string_view choose_kernel(Device device);

// cuda where there is a usable GPU and this build has a kernel for it, else cpu.
Device choose_device();

}  // namespace trireme
