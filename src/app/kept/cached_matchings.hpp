// SPDX-License-Identifier: BSD-3-Clause
// Matchings of rows with columns in the cache, and the one that this run has found already.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string_view>

#include "cache/cache_key.hpp"
#include "cache/shared_cache.hpp"
#include "distributed/scaling/matching_store.hpp"

namespace trireme {

class CachedMatchings final : public MatchingStore {
 public:
  // `whole` is the key of matchings of the whole matrix, `blocks` that of each rank's diagonal
  // block. An entry is kept where reading it is expected to save as many seconds. `cache`, which is
  // one of these ranks, must outlive the object.
  CachedMatchings(MPI_Comm comm, SharedCache& cache, CacheKey whole, CacheKey blocks,
                  double least_saving = kLeastSaving);

  std::optional<KeptMatching> find(Matched what, std::int64_t rows) override;
  void keep(Matched what, std::shared_ptr<const Transversal> found,
            double made_in_seconds) override;
  void reject(Matched what, std::string_view fault) override;

  static constexpr double kLeastSaving = 0.02;

 private:
  struct Entry {
    CacheKey key;
    Holder holder;
    std::shared_ptr<const Transversal> of_this_run = {};
  };
  Entry& entry(Matched what) { return what == Matched::whole ? whole_ : blocks_; }

  MPI_Comm comm_;
  SharedCache& cache_;
  Entry whole_, blocks_;
  double least_saving_;
};

}  // namespace trireme
