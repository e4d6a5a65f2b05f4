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

#include <cstdint>
#include <string_view>

#include "base/choices.hpp"
#include "planning/choose.hpp"

namespace trireme {

// Rates in GB/s. The defaults are an H200 and two cores of an EPYC.
struct MachineRates {
  double memory = 0, cache = 0;
};
MachineRates default_rates(Device device);

// Microseconds of one product. An unknown kernel counts as csr.
double predicted_product_us(std::string_view kernel, Ordering ordering, Device device,
                            Precision precision, const MatrixTraits& traits,
                            const MachineRates& rates);

// By which part a kernel may be faster than predicted. It is larger for plain CSR kernels, which
// depend more on what the model does not see, and whose trial costs little, and largest for layouts
// on CPUs, whose executors gain or lose by how often the length of the rows changes.
double prediction_uncertainty(std::string_view kernel, Device device);

// Seconds of leaving a solver's loop and going on: on a GPU b and x travel once more.
double predicted_pause_seconds(Device device, const MatrixTraits& traits, double product_us);

// Seconds of the build of a kernel's layout from a CSR that is where the kernel runs.
double predicted_build_seconds(std::string_view kernel, Device device, const MatrixTraits& traits,
                               const MachineRates& rates);

// Seconds of making the order and P A P^T.
double predicted_order_seconds(Ordering ordering, Device device, const MatrixTraits& traits);

}  // namespace trireme
