// SPDX-License-Identifier: BSD-3-Clause
// Reads on each rank, agrees, and builds where one of them has nothing.
#include "multigrid/store/find_or_build.hpp"

#include <new>
#include <optional>
#include <utility>

#include "base/stopwatch.hpp"
#include "multigrid/store/stored_hierarchy.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

struct Found {
  StoredHierarchy hierarchy;
  std::int64_t bytes = 0;  // of all ranks
};

// None unless every rank has read its part of the same hierarchy. Collective.
std::optional<Found> found_in(HierarchyEntry& entry, const DistributedMatrix& matrix,
                              const Options& options) {
  const auto bytes = entry.find();
  if (!bytes) return std::nullopt;
  std::optional<StoredHierarchy> read;
  try {
    read = read_hierarchy(*bytes, matrix, options);
  } catch (const Error& error) {
    entry.reject(error.what());
  } catch (const std::bad_alloc&) {
    read.reset();
  }
  // Ranks may have kept their parts in different runs.
  std::int64_t build[2] = {read ? read->build : 0, read ? -read->build : 0};
  MPI_Allreduce(MPI_IN_PLACE, build, 2, MPI_INT64_T, MPI_MAX, matrix.comm);
  const std::int64_t missing = sum_over_ranks(matrix.comm, read ? 0 : 1);
  if (missing > 0 || build[0] != -build[1]) return std::nullopt;
  return Found{*std::move(read), sum_over_ranks(matrix.comm, std::ssize(*bytes))};
}

// Does nothing where the memory for the bytes is missing. Collective.
void keep(HierarchyEntry& entry, Hierarchy& hierarchy, double saved, MPI_Comm comm) {
  const Stopwatch watch;
  Array<std::byte> bytes;
  try {
    bytes = hierarchy.stored();
  } catch (const AgreedError&) {
    return;
  }
  if (!entry.keep(bytes, saved)) return;
  hierarchy.note_kept({.seconds = max_over_ranks(comm, watch.seconds()),
                       .bytes = sum_over_ranks(comm, std::ssize(bytes))});
}

}  // namespace

std::unique_ptr<Hierarchy> find_or_build(const HierarchyStore& store,
                                         const std::shared_ptr<DistributedMatrix>& matrix,
                                         const NearNullspace& modes, const Options& options,
                                         const KeepRule& rule) {
  const MPI_Comm comm = matrix->comm;
  Stopwatch watch;
  const auto entry = store(*matrix, modes, options);
  std::optional<Found> found = found_in(*entry, *matrix, options);
  const double looking = max_over_ranks(comm, watch.lap());
  if (found && !found->hierarchy.levels.empty()) {
    const double building = max_over_ranks(comm, found->hierarchy.set_up_seconds);
    auto hierarchy = Hierarchy::from_stored(matrix, std::move(found->hierarchy), options);
    hierarchy->note_read(looking, {.building = building, .bytes = found->bytes});
    if (hierarchy->set_up().total > building) entry->keep(not_worth_reading(building), building);
    return hierarchy;
  }
  auto hierarchy = std::make_unique<Hierarchy>(matrix, modes, options);
  if (found) return hierarchy;  // reading was slower
  const SetUpFacts& parts = hierarchy->set_up();
  const double saved = parts.strength + parts.aggregation + parts.prolongator + parts.products;
  const double bytes = max_over_ranks(comm, static_cast<double>(hierarchy->stored_bytes()));
  if (saved - bytes / rule.bytes_per_second < rule.least_saving) return hierarchy;
  keep(*entry, *hierarchy, saved, comm);
  return hierarchy;
}

bool expects_to_find(const HierarchyStore& store, const DistributedMatrix& matrix,
                     const NearNullspace& modes, const Options& options) {
  return store(matrix, modes, options)->size() >
         size_of(matrix.comm) * std::ssize(not_worth_reading(0));
}

}  // namespace trireme::multigrid
