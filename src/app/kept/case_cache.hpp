// SPDX-License-Identifier: BSD-3-Clause
// The cache of a case, and what the keys of all its entries have in common.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cache/cache_key.hpp"
#include "cache/shared_cache.hpp"
#include "config/case.hpp"
#include "kernels/registry.hpp"
#include "report/outcome.hpp"

namespace trireme {

// The folder of the case, or none; `note` says why there is none although the case wants one.
struct CaseCache {
  SharedCache cache;
  std::string note;
};
CaseCache open_cache(MPI_Comm comm, const CacheSpec& spec);

// A key of this kind for a matrix on this machine: program version, pattern, shape, CPU or GPU and
// its driver, SIMD target, ranks, threads and the distribution of the rows. The caller adds the
// settings on which the entry depends: precision, device, method, ordering, ... The values of the
// matrix are no part of it. `outcome` has its problem, its machine and its pattern_hash;
// `row_starts` has ranks + 1 numbers. Does not communicate.
CacheKey key_of(std::string_view kind, const CaseOutcome& outcome,
                std::span<const std::int64_t> row_starts);

// The key of the decision of `kernel: auto` for a device and a precision.
CacheKey decision_key(const Case& c, const KernelChoice& kernel, const CaseOutcome& outcome,
                      std::span<const std::int64_t> row_starts);

// The key of the number of iterations of a solve, which depends neither on the machine nor on the
// ranks. `outcome` has its problem and its pattern_hash.
CacheKey iterations_key(const Case& c, const CaseOutcome& outcome);

// The key of the rung with which `method: auto` has solved, likewise.
CacheKey rung_key(const Case& c, const CaseOutcome& outcome);

// The key of the matching of a matrix with its values, likewise.
CacheKey matching_key(const CaseOutcome& outcome);

}  // namespace trireme
