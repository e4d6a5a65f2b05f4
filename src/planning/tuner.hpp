// SPDX-License-Identifier: BSD-3-Clause
// Decides what `kernel: auto` tries, when, and what wins. Plain arithmetic: nothing is measured
// here, and every rank that is given the same numbers decides the same.
//
// Preprocessing is an investment. An option (a kernel in an order of rows) costs its build, its
// order and some products to time it; it earns the difference of two products, as often as products
// are still to come. Two rules allow a trial:
//   1. It is small: all trials together take at most kSmallPart of the time that solving has taken
//      so far. A solve that ends early has then lost no more than that.
//   2. It is a good investment for half of the products that are expected: as predicted it would
//      earn what its trial costs, or if the prediction is wrong to its favour by the model's error
//      it would earn kReturnOfHope times that. All trials stay within the budget: kBudgetPart of
//      the solves that are expected, or kBudgetProducts products, whichever is more. Making an
//      order of rows counts in the costs but not in the budget, as it is no measurement.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/choices.hpp"

namespace trireme {

struct TunerOption {
  std::string kernel;
  Ordering ordering = Ordering::given;
  std::string ghost_kernel{};    // multiplies by the columns of other ranks; empty: `kernel` does
  double predicted_us = 0;       // one product, by the cost model
  double uncertainty = 0.2;      // by which part it may be faster than predicted
  double predicted_seconds = 0;  // of its trial: build and timed products
  double order_seconds = 0;      // predicted, of making the order

  // What its trial has found.
  std::optional<double> product_us{};  // measured
  double seconds = 0;                  // spent on its trial, without its order
  double build_seconds = 0;            // order and build: what a run that knows the winner pays
  std::string failure{};               // why it cannot be used; empty: it can
};

// How far the solves are.
struct SolveProgress {
  double seconds = 0;         // spent iterating so far, all solves
  double products_ahead = 0;  // expected, of this solve and of all that follow
  double pause_seconds = 0;   // what leaving the loop costs; 0 where it is left already
};

class Tuner {
 public:
  static constexpr double kSmallPart = 0.02;
  static constexpr double kReturnOfHope = 4;
  static constexpr double kBudgetPart = 0.02;
  static constexpr double kBudgetProducts = 100;
  // A change costs some iterations, so that an option must win at least this part.
  static constexpr double kLeastGain = 0.02;

  // options[0] is the one that a run begins with, which costs nothing.
  explicit Tuner(std::vector<TunerOption> options);

  // The option that is worth a trial at this point, if any.
  std::optional<std::size_t> next(const SolveProgress& progress) const;
  void measured(std::size_t option, double product_us, double build_seconds, double seconds);
  // Further options in this order need not make it.
  void order_is_made(Ordering ordering);
  void failed(std::size_t option, std::string why, double seconds);

  // The option with the least measured product, with the running one preferred within kLeastGain.
  std::size_t best() const;
  // What all trials may take at this point, by the second rule.
  double budget_seconds(const SolveProgress& progress) const;
  double spent_seconds() const;
  // A prediction is corrected by what the measured options took: half of their error is taken for
  // that of the machine's rates, which all options share.
  double expected_us(std::size_t option) const;
  // What became of an option, in words; `running` is the one in use.
  std::string verdict(std::size_t option, std::size_t running) const;
  std::span<const TunerOption> options() const { return options_; }

 private:
  std::string why_not_tried(std::size_t option) const;

  std::vector<TunerOption> options_;
};

}  // namespace trireme
