// SPDX-License-Identifier: BSD-3-Clause
// The key of a hierarchy: everything by which it may differ from another one.
#include "app/kept/cached_hierarchies.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "cache/content_hash.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// The hash of the hashes of all ranks, each of which has kHashLength digits. Collective.
std::string hash_of_all(MPI_Comm comm, const ContentHash& mine) {
  const std::string text = mine.text();
  std::string all(text.size() * static_cast<std::size_t>(size_of(comm)), '\0');
  const int length = static_cast<int>(text.size());
  MPI_Allgather(text.data(), length, MPI_CHAR, all.data(), length, MPI_CHAR, comm);
  return ContentHash().add(all).text();
}

void add(ContentHash& hash, const CsrMatrix<double>& m) {
  hash.add(m.cuts).add(m.row_ptr).add(m.col_idx).add(m.values);
}

std::string hash_of(const DistributedMatrix& matrix) {
  ContentHash hash;
  hash.add(matrix.row_starts);
  add(hash, matrix.blocks.local);
  add(hash, matrix.blocks.ghost);
  hash.add(matrix.blocks.ghost_columns);
  return hash_of_all(matrix.comm, hash);
}

// Names every member, so that one which the key lacks does not compile.
std::string in_words(const multigrid::Options& options) {
  const auto& [smoother, degree, cycle, threshold, smoothed_prolongator, fill, aggressive_levels,
               precision, block_size, max_levels, coarsest_rows, replicated_rows, counts_unknowns] =
      options;
  return fmt::format(
      "{} of degree {}, cycle {}, threshold {}, {} prolongator, fill {}, {} aggressive levels, {}, "
      "block size {}, at most {} levels, coarsest {}, whole {}{}",
      to_string(smoother), degree, to_string(cycle), threshold,
      smoothed_prolongator ? "smoothed" : "plain", fill, aggressive_levels, to_string(precision),
      block_size, max_levels, coarsest_rows, replicated_rows,
      counts_unknowns ? " by unknowns" : "");
}

class CachedHierarchy final : public multigrid::HierarchyEntry {
 public:
  CachedHierarchy(SharedCache& cache, CacheKey&& key) : cache_(cache), key_(std::move(key)) {}

  std::int64_t size() override { return cache_.size_of_parts(key_); }
  std::optional<Array<std::byte>> find() override { return cache_.find_part(key_); }
  bool keep(std::span<const std::byte> bytes, double made_in_seconds) override {
    return cache_.keep_part(key_, bytes, made_in_seconds);
  }
  void reject(std::string_view fault) override { cache_.reject_part(key_, fault); }

 private:
  SharedCache& cache_;
  CacheKey key_;
};

}  // namespace

multigrid::HierarchyStore cached_hierarchies(SharedCache& cache, const CacheKey& key) {
  if (!cache.used()) return {};
  return [&cache, key](const DistributedMatrix& matrix, const multigrid::NearNullspace& modes,
                       const multigrid::Options& options) {
    CacheKey own = key;
    own.add("matrix", hash_of(matrix))
        .add("near-nullspace",
             modes.width == 0
                 ? std::string("constants")
                 : fmt::format("{} vectors {}", modes.width,
                               hash_of_all(matrix.comm, ContentHash().add(modes.values))))
        .add("multigrid", in_words(options));
    return std::make_unique<CachedHierarchy>(cache, std::move(own));
  };
}

}  // namespace trireme
