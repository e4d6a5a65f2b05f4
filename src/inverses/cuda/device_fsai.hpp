// SPDX-License-Identifier: BSD-3-Clause
// The factor G of an approximate inverse made on a GPU, with the bits of growing_row.hpp. This
// header compiles without CUDA. A row is made by a group of lanes:
//
//   8, 16 or 32 lanes      for at most 2, 5 or 10 steps of three entries, more for long rows of A
//   lane k of the group    entry k of the pattern: its column, z and y, in registers
//   shared memory          the Cholesky factor of A(P, P), and a hash table of the gradient by
//                          column, 64 to 1024 slots
//
// Where more than 3/4 of a table of 1024 slots is taken, further candidates are left out, which the
// host does not do.
#pragma once

#include <cstdint>
#include <optional>

#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "multigrid/cuda/device_csr_rows.hpp"

namespace trireme::inverses {

inline constexpr std::int32_t kMostStepsOnGpu = 10;

struct DeviceFactor {
  multigrid::DeviceRows rows;  // ascending columns, the diagonal last
  std::int32_t longest = 0;    // row
  bool in_fp32 = false;        // the values were rounded to FP32, which has all of them
};

// None: the host has to make it, because the columns of `a` do not ascend, an entry of the diagonal
// is not positive, or the GPU has no memory for it. At most
// kMostStepsOnGpu steps. Waits for the stream.
std::optional<DeviceFactor> make_fsai_on_device(const DeviceCsr<double>& a, std::int32_t steps,
                                                StreamRef stream);
// Gives `factor` the numbers for other values of `a` on the same pattern. False: the host has to,
// for one of the reasons above. Waits for the stream.
bool renew_fsai_on_device(const DeviceCsr<double>& a, DeviceFactor& factor, StreamRef stream);

}  // namespace trireme::inverses
