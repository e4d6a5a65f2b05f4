// SPDX-License-Identifier: BSD-3-Clause
// What `kernel: auto` may choose from: the registered kernels in the orders of rows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/operator.hpp"
#include "kernels/registry.hpp"
#include "planning/choose.hpp"
#include "planning/tuner.hpp"

namespace trireme {

struct CandidateRequest {
  KernelChoice running;      // the kernel that the run begins with
  MatrixTraits traits;       // with what the cost model looks at
  bool reproducible = true;  // leave out kernels whose sums differ from run to run
  bool orderings = false;    // whether the rows may be put into another order
  int timed_products = 5;    // per trial
  struct Other {
    std::string kernel;
    KernelModel model;
  };
  std::vector<Other> others = {};  // kernels that are in no registry, without orders
};

// The running kernel first, then every other kernel that runs on the same device in the same
// precision, with the predictions of the cost model: in the order of rows of the running one and,
// where samples say that rows could share much more of x, in the other orders. Where other ranks
// own many columns, also with a plain kernel for the ghost block.
std::vector<TunerOption> candidates(const CandidateRequest& request);

// How a trial times a product: the microseconds of one, of this rank, from that many. Collective.
using MeasureProduct = std::function<double(Operator& op, int products)>;
inline double measure_product(Operator& op, int products) {
  return op.measure_product_us(products);
}

}  // namespace trireme
