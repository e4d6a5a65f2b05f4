// SPDX-License-Identifier: BSD-3-Clause
// Whether fewer ranks would iterate faster, by a model of what an iteration of a run has cost.
//
// On p ranks an iteration takes C + K: C is what the mean rank computes, K is all else: exchanges,
// sums and waits. On q ranks, C grows to C p / q, and K falls to K log q / log p, as that of a tree
// of messages does. One rank exchanges nothing. Where ranks share the bandwidth of a memory, C
// grows less, so that the model rather speaks for many ranks.
#pragma once

#include <optional>
#include <string>

namespace trireme {

struct IterationCost {
  int ranks = 1;
  double iteration_us = 0;  // measured
  double compute_us = 0;    // of these, the products and passes over vectors of the mean rank
};

struct ExpectedIteration {
  int ranks = 1;
  double us = 0;
};

// The number of ranks with the shortest iteration; empty where that would save less than a fifth of
// the measured one.
std::optional<ExpectedIteration> fewer_ranks(const IterationCost& cost);

// Advice for a note of the report; empty where fewer_ranks() is.
std::string advice_on_ranks(const IterationCost& cost);

// What an iteration computes, from `local_us` for one product of a rank with `rows` rows and `nnz`
// entries: the product, and about 11 numbers of 8 bytes per row in passes over vectors, at the
// speed of the product.
double compute_us(double products, double local_us, double rows, double nnz);

}  // namespace trireme
