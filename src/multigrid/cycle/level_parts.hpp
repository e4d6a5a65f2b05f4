// SPDX-License-Identifier: BSD-3-Clause
// What a cycle on a GPU needs of each level, as views of arrays on the host or on a GPU.
#pragma once

#include <cstdint>
#include <span>

#include "base/choices.hpp"
#include "device/span.hpp"
#include "kernels/device_csr.hpp"
#include "multigrid/cycle/cycle.hpp"
#include "multigrid/cycle/smoothing.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

struct LevelNumbers {
  CycleLevel::Kind kind = CycleLevel::Kind::smoothed;
  std::int64_t rows = 0;
  Precision precision = Precision::full;           // in which the values of A are to be stored
  Precision transfer_precision = Precision::full;  // those of P and P^T
  Smoothing smoothing;
  std::int64_t block_size = 1;  // of W
};

// The level of one rank that has no ghosts. The coarsest level has no transfers. A level that is
// solved has only the inverse of A.
struct HostLevelParts : LevelNumbers {
  CsrView<double> a, p, restriction;
  std::span<const double> inverse;        // W: block_size numbers per row
  std::span<const double> dense_inverse;  // rows x rows numbers, row by row
};

struct DeviceLevelParts : LevelNumbers {
  DeviceCsr<double> a, p, restriction;
  DeviceSpan<const double> inverse;
  DeviceSpan<const double> dense_inverse;
};

}  // namespace trireme::multigrid
