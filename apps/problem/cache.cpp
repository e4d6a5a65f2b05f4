// SPDX-License-Identifier: BSD-3-Clause
// problem cache: lists, explains and clears what solve keeps for later runs.
#include "cache/cache.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <ctime>

#include "base/printable.hpp"
#include "cache/kernel_decision.hpp"
#include "cache/shared_cache.hpp"
#include "cache_table.hpp"
#include "commands.hpp"
#include "parallel/collective.hpp"
#include "report/words.hpp"

namespace trireme::problem_app {
namespace {

Cache open_cache(const CacheOptions& options) {
  if (size_of(MPI_COMM_WORLD) != 1)
    fail(ExitCode::usage, "problem cache runs on one rank; start it without mpirun");
  const std::filesystem::path directory =
      options.directory.empty() ? default_cache_directory() : options.directory;
  if (directory.empty())
    fail(ExitCode::usage,
         "neither XDG_CACHE_HOME nor HOME has an absolute path; name the folder by --cache DIR");
  return Cache(directory);
}

// A hierarchy has many bytes, of which a list needs the first ones only.
enum class Payload { start, whole };

// Reads the payload of a decision or a hierarchy. What is wrong with it becomes the fault of the
// listing.
CacheRow row_of(const CacheListing& listing, Payload payload) {
  CacheRow row{.listing = listing, .decision = {}};
  if (!listing.fault.empty()) return row;
  try {
    if (listing.head.kind == kDecisionKind)
      row.decision = kernel_decision(Cache::read(listing.path).payload);
    if (listing.head.kind == kHierarchyKind)
      row.hierarchy = payload == Payload::whole ? whole_hierarchy(listing.path)
                                                : start_of_hierarchy(listing.path);
  } catch (const Error& error) {
    row.listing.fault = error.what();
  }
  return row;
}

}  // namespace

void list_cache(const CacheOptions& options) {
  const Cache cache = open_cache(options);
  std::vector<CacheRow> rows;
  for (const CacheListing& listing : cache.list()) rows.push_back(row_of(listing, Payload::start));
  print_text(stdout, cache_table(cache.directory(), rows, std::time(nullptr)));
}

void explain_cache(const CacheOptions& options) {
  const Cache cache = open_cache(options);
  std::vector<CacheListing> found;
  for (CacheListing& listing : cache.list())
    if (listing.path.filename().string().starts_with(options.name))
      found.push_back(std::move(listing));
  if (found.size() != 1)
    fail(ExitCode::usage,
         "{} entries of {} have names that begin with '{}'; problem cache list "
         "shows the names",
         found.size(), cache.directory().string(), options.name);
  const CacheRow row = row_of(found.front(), Payload::whole);
  if (!row.listing.fault.empty())
    fail(ExitCode::input, "the cache entry {} {}; the next run that needs it replaces it",
         row.listing.path.string(), row.listing.fault);
  print_text(stdout, cache_explanation(row, std::time(nullptr)));
}

void clear_cache(const CacheOptions& options) {
  Cache cache = open_cache(options);
  const CacheCleared cleared = cache.clear();
  print_text(stdout, fmt::format("{}: {} {} removed, {}\n", cache.directory().string(),
                                 cleared.files, cleared.files == 1 ? "file" : "files",
                                 words::bytes(static_cast<double>(cleared.bytes))));
  for (const std::string& note : cache.take_notes())
    print_text(stderr, fmt::format("problem: {}\n", note));
}

}  // namespace trireme::problem_app
