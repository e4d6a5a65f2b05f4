// SPDX-License-Identifier: BSD-3-Clause
// Where the matching of an earlier run may be found, and that of this run is kept for later ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sparse/transversal.hpp"

namespace trireme {

// Whose rows are matched: those of the matrix, by rank 0 and in the order of the file, or those of
// the diagonal block of each rank.
enum class Matched { whole, blocks };

// A matching in which every row has its column.
struct KeptMatching {
  std::shared_ptr<const Transversal> matching;  // of no rows on other ranks, where rank 0 has it
  std::string origin;                           // "an earlier run"
};

// What a store has of one matrix with its values. All functions are collective, and none of them
// throws for what is wrong with the store.
class MatchingStore {
 public:
  virtual ~MatchingStore() = default;
  // Found only where every rank that is to have one has a permutation of its `rows` columns and as
  // many scales. Whether it belongs to the matrix is for the caller to see.
  virtual std::optional<KeptMatching> find(Matched what, std::int64_t rows) = 0;
  virtual void keep(Matched what, std::shared_ptr<const Transversal> found,
                    double made_in_seconds) = 0;
  // Removes what was found: `fault` is a clause without a subject.
  virtual void reject(Matched what, std::string_view fault) = 0;
};

}  // namespace trireme
