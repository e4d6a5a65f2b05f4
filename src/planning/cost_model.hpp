// SPDX-License-Identifier: BSD-3-Clause
// What a product and a build will take, from the statistics of the rows. The model ranks options
// for the tuner, which corrects it by what it measures; no report shows its times as results.
//
// A product takes the longest of three times, and a constant for its start:
//   - the bytes of the layout and of the vectors over the part of the memory's bandwidth that the
//     kernel reaches;
//   - the same bytes and the sectors of x that rows read again, over the bandwidth of the last
//     cache;
//   - the longest row, where one thread or one group of threads reads it alone, and a mean row,
//     where too few rows are read at once.
#pragma once

#include "base/choices.hpp"
#include "kernels/kernel_model.hpp"
#include "planning/choose.hpp"

namespace trireme {

// Rates in GB/s. The defaults are an H200 and two cores of an EPYC.
struct MachineRates {
  double memory = 0, cache = 0;
};
MachineRates default_rates(Device device);

// Microseconds of one product.
double predicted_product_us(const KernelModel& model, Ordering ordering, Precision precision,
                            const MatrixTraits& traits, const MachineRates& rates);

// Seconds of leaving a solver's loop and going on: on a GPU b and x travel once more.
double predicted_pause_seconds(Device device, const MatrixTraits& traits, double product_us);

// Seconds of the build of a kernel's layout from a CSR that is where the kernel runs.
double predicted_build_seconds(const KernelModel& kernel, const MatrixTraits& traits,
                               const MachineRates& rates);

// Seconds of making the order and P A P^T.
double predicted_order_seconds(Ordering ordering, Device device, const MatrixTraits& traits);

}  // namespace trireme
