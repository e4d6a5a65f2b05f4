// SPDX-License-Identifier: BSD-3-Clause
// What a cycle on a GPU needs of one level.
#pragma once

#include <cstdint>
#include <string>

#include "base/choices.hpp"
#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "multigrid/cuda/device_csr_rows.hpp"
#include "multigrid/cycle/smoothing.hpp"

namespace trireme::multigrid {

// Renewal writes new numbers into the same arrays.
struct DeviceLevel {
  DeviceRows coarse_rows;  // what `a` refers to below the finest level
  DeviceCsr<double> a;
  std::string prolongator;     // to this level: of LevelFacts
  DeviceRows p, p_transposed;  // the way to the next coarser level; empty on the coarsest one
  // In which the values of A, and those of P and P^T, are to be stored for the cycle.
  Precision precision = Precision::full, transfer_precision = Precision::full;
  bool solved = false;            // by the dense inverse
  ScratchBuffer<double> inverse;  // W: block_size numbers per row; empty where the level is solved
  std::int64_t block_size = 1;
  double spectral_radius = 0;  // of W A; 0 where the level is solved
  Smoothing smoothing;
  ScratchBuffer<double> dense_inverse;  // rows x rows, row by row; empty where it is smoothed
};

}  // namespace trireme::multigrid
