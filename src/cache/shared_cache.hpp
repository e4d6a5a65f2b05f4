// SPDX-License-Identifier: BSD-3-Clause
// The cache as the ranks of a run use it together: they agree on every hit and every miss.
//
//   SharedCache cache(comm, directory);
//   CacheKey key(kDecisionKind);
//   key.add("pattern", hash).add("precision", "double");
//   if (const auto decision = cache.find_decision(key)) ... else cache.keep_decision(key, ...);
//
// All functions are collective, except where their comment says otherwise, and none of them throws
// for what is wrong with the folder or an entry. Keys are equal on all ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "cache/kernel_decision.hpp"

namespace trireme {

// The kind in the key of a multigrid hierarchy.
inline constexpr const char* kHierarchyKind = "hierarchy 1";
// The kind in the key of an order of rows.
inline constexpr const char* kOrderKind = "order 1";
// The kind in the key of a placement of rows on ranks.
inline constexpr const char* kPlacementKind = "placement 1";
// The kind in the key of a matching of rows with columns.
inline constexpr const char* kMatchingKind = "matching 1";

// The kind in the key of the number of iterations of a solve.
inline constexpr const char* kIterationsKind = "iterations 2";
inline constexpr const char* kRungKind = "rung 1";

// Where the rows of a system go.
struct CachedPlacement {
  std::vector<std::int64_t> row_starts;  // ranks + 1, of the new numbers
  Array<std::int32_t> new_rows;          // the new number of each of this rank's rows
};

// Who has the bytes of an entry: rank 0 for all ranks, or each rank those of an entry of its own.
enum class Holder { rank_zero, each_rank };

class SharedCache {
 public:
  // Without a folder nothing is found and nothing is kept. `comm` must outlive the object.
  SharedCache(MPI_Comm comm, const std::filesystem::path& directory,
              std::uint64_t max_bytes = kCacheMaxBytes);

  // False: there is no folder. The same on all ranks; not collective.
  bool used() const { return cache_.has_value(); }

  // Rank 0 reads and writes; the other ranks get what it found. trial.from_cache is set. An entry
  // for which `usable`, which rank 0 calls, is false names what this program lacks: it is rejected.
  std::optional<KernelDecision> find_decision(
      const CacheKey& key, const std::function<bool(const KernelDecision&)>& usable = {});
  void keep_decision(const CacheKey& key, const KernelDecision& decision, double made_in_seconds);

  // Rank 0 reads and writes; the other ranks get what it found. A number is not negative.
  std::optional<std::int64_t> find_number(const CacheKey& key);
  void keep_number(const CacheKey& key, std::int64_t number);

  // Each rank has an entry of its own: the new place of each of its `rows` rows, or their old one,
  // in any case a permutation of 0 to rows - 1. Found only where every rank has found its entry.
  std::optional<Array<std::int32_t>> find_order(const CacheKey& key, std::int64_t rows);
  void keep_order(const CacheKey& key, std::span<const std::int32_t> order, double made_in_seconds);

  // Each rank has an entry of its own. Found only where every rank has found its entry and the
  // entries have the same row_starts. Whether each new number occurs once is left to
  // Redistribution. `row_starts` are the cuts before.
  std::optional<CachedPlacement> find_placement(const CacheKey& key,
                                                std::span<const std::int64_t> row_starts);
  void keep_placement(const CacheKey& key, const CachedPlacement& placement,
                      double made_in_seconds);

  // Bytes that the caller understands. Found only where every holder has found its entry; the other
  // ranks get no bytes.
  std::optional<Array<std::byte>> find_bytes(const CacheKey& key, Holder holder);
  void keep_bytes(const CacheKey& key, Holder holder, std::span<const std::byte> bytes,
                  double made_in_seconds);
  // The caller does not understand this rank's bytes: notes the fault, and removes the entry. Not
  // collective.
  void reject_bytes(const CacheKey& key, Holder holder, std::string_view fault);

  // Bytes that each rank holds, whose use may show that they are bad: see reject_found_parts().
  std::optional<Array<std::byte>> find_part(const CacheKey& key);
  // The bytes of all ranks' entries; 0 unless every rank has one. They are not read.
  std::int64_t size_of_parts(const CacheKey& key) const;
  // Returns whether every rank has kept its entry.
  bool keep_part(const CacheKey& key, std::span<const std::byte> bytes, double made_in_seconds);
  void reject_part(const CacheKey& key, std::string_view fault) {
    reject_bytes(key, Holder::each_rank, fault);
  }
  // Whether find_part() has found anything since the last call of reject_found_parts(). The same on
  // all ranks; not collective.
  bool has_found_parts() const { return !found_parts_.empty(); }
  // What was found with it ended badly: rejects all of it.
  void reject_found_parts(std::string_view fault);

  // The notes since the last call: those of the lowest rank that has any, on all ranks.
  std::vector<std::string> take_notes();

 private:
  CacheKey of_this_rank(const CacheKey& key) const;
  bool holds(Holder holder) const;

  MPI_Comm comm_;
  std::optional<Cache> cache_;
  std::vector<CacheKey> found_parts_;
};

}  // namespace trireme
