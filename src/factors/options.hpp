// SPDX-License-Identifier: BSD-3-Clause
// How incomplete factors are made, and what came out.
#pragma once

#include <cstdint>
#include <optional>

#include "base/choices.hpp"

namespace trireme {

namespace factors {

inline constexpr std::int32_t kMostLevels = 8;
inline constexpr std::int32_t kMostOverlap = 2;

// The order in which rows are eliminated: that of A, reverse Cuthill-McKee, or rows by colours,
// which know nothing of others of their colour, so that few levels come out.
enum class RowOrder { given, rcm, colours };

// What a pattern is made with.
struct IluChoice {
  // The level of fill, at most kMostLevels: 0 for the pattern of A.
  std::int32_t levels = 0;
  RowOrder order = RowOrder::given;
  bool operator==(const IluChoice&) const = default;
};

struct IluOptions {
  std::int32_t levels = 0;
  std::optional<RowOrder> order;  // none: what suits the place, as choice_for() has it
  // The matrix is symmetric, and the factors are to be positive definite: incomplete Cholesky.
  bool definite = false;
  // Layers of rows of other ranks that a rank factors besides its own, at most kMostOverlap:
  // restricted additive Schwarz. It is not symmetric, also where A is, so that definite factors
  // have none, and methods for symmetric matrices need 0.
  std::int32_t overlap = 0;
  bool operator==(const IluOptions&) const = default;
};

// On a GPU the rows of a level are solved at once, and levels one after the other: colours take
// more iterations and make so few levels that an application is 6 to 46 times as fast
// (docs/performance/preconditioners.md).
constexpr IluChoice choice_for(const IluOptions& options, bool on_gpu) {
  return {.levels = options.levels,
          .order = options.order.value_or(on_gpu ? RowOrder::colours : RowOrder::given)};
}

// Of all ranks together.
struct IluFacts {
  IluChoice choice{};
  std::int32_t overlap = 0;         // layers of rows between ranks
  std::int64_t nnz = 0;             // of L, D and U together
  std::int64_t levels_of_rows = 0;  // the most of a rank: steps of a sweep, one after the other
  std::int64_t replaced = 0;        // pivots that were too small
  double shift = 0;                 // the most of a rank: part of the diagonal that was added to it
  bool in_fp32 = false;
  double seconds = 0;  // of the last set-up, of this rank
};

}  // namespace factors

template <>
struct WordsOf<factors::RowOrder> {
  using Choice = factors::RowOrder;
  static constexpr Word<Choice> all[] = {
      {"given", Choice::given}, {"rcm", Choice::rcm}, {"colours", Choice::colours}};
};

}  // namespace trireme
