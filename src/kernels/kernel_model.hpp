// SPDX-License-Identifier: BSD-3-Clause
// What planning has to know of a kernel on one device before anything is measured: how its product
// and its build scale with a matrix, and what it reads. The entry of a kernel (list.hpp) owns
// these numbers; planning/cost_model.hpp says how a prediction is made of them.
#pragma once

namespace trireme {

// All numbers are those of FP64 values. The defaults are those of CSR.
struct KernelModel {
  // Bytes of a product.
  double value_bytes = 8, column_bytes = 4;  // per nonzero
  double row_bytes = 4;                      // per row, without x and y
  // The part of the memory's bandwidth that a product reaches where it streams.
  double of_bandwidth = 0;
  // What it reaches more where a mean row has 256 nonzeros or more; in proportion below.
  double gain_of_long_rows = 0;
  // Where this is not 0, the part that it reaches where a mean row has more than 256 nonzeros.
  double of_bandwidth_beyond = 0;
  double start_us = 0;  // launches, and the tail of the last blocks
  // Per nonzero of the longest row, which a group of threads reads alone, and per nonzero of a mean
  // row, which a thread reads alone.
  double per_long_row_us = 0, per_mean_row_us = 0;
  // By which part the kernel may be faster than predicted. It is larger for plain CSR kernels,
  // which depend more on what the model does not see, and whose trial costs little, and largest for
  // layouts on CPUs, whose executors gain or lose by how often the length of the rows changes.
  double uncertainty = 0.2;

  double build_bytes = 0;  // read and written by the build, per byte of the layout
  double build_us = 0;     // constant part of the build

  // Values are stored in FP32 where that is exact.
  bool stores_exact_floats = false;
  // Where rows have few patterns in the order given, no column is read but the number of the
  // pattern of each row, and patterns with their values that repeat are stored once.
  bool numbers_patterns = false;
};

}  // namespace trireme
