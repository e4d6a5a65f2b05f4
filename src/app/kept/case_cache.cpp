// SPDX-License-Identifier: BSD-3-Clause
// Collects what an entry of the cache depends on.
#include "app/kept/case_cache.hpp"

#include <fmt/format.h>

#include "app/kept/settings_of.hpp"
#include "app/requested_kernels.hpp"
#include "base/split_mix.hpp"
#include "device/device.hpp"

namespace trireme {
namespace {

// A hash of the distribution, which has a number per rank and would fill the key.
std::string hash_of(std::span<const std::int64_t> row_starts) {
  std::uint64_t hash = 0;
  for (const std::int64_t start : row_starts)
    hash = mix_bits(hash + kSplitMixStep + static_cast<std::uint64_t>(start));
  return fmt::format("{:016x}", hash);
}

void add_settings(CacheKey& key, PartOf thing, const Case& c) {
  for (const KeyValue& setting : settings_that_are(thing, c)) key.add(setting.path, setting.value);
}

}  // namespace

CaseCache open_cache(MPI_Comm comm, const CacheSpec& spec) {
  if (!spec.use) return {SharedCache(comm, {}), {}};
  if (!spec.directory.empty()) return {SharedCache(comm, spec.directory), {}};
  const std::filesystem::path directory = default_cache_directory();
  return {SharedCache(comm, directory),
          directory.empty() ? "no cache: neither XDG_CACHE_HOME nor HOME has an absolute path; "
                              "--cache names a folder"
                            : ""};
}

CacheKey key_of(std::string_view kind, const CaseOutcome& outcome,
                std::span<const std::int64_t> row_starts) {
  const MachineDescription& machine = outcome.machine;
  CacheKey key(kind);
  key.add("trireme", machine.trireme)
      .add("pattern", outcome.pattern_hash)
      .add("rows", outcome.problem.rows)
      .add("cols", outcome.problem.cols)
      .add("nonzeros", outcome.problem.nnz)
      .add("cpu", machine.cpu)
      .add("simd", machine.simd)
      .add("ranks", machine.ranks)
      .add("threads per rank", machine.threads_per_rank)
      .add("row distribution", hash_of(row_starts));
  if (outcome.distribution && !outcome.distribution->placement_hash.empty())
    key.add("placement", outcome.distribution->placement_hash);
  if (!machine.gpu.empty())
    key.add("gpu", machine.gpu).add("gpu driver", device_properties().driver_version);
  return key;
}

CacheKey decision_key(const Case& c, const KernelChoice& kernel, const CaseOutcome& outcome,
                      std::span<const std::int64_t> row_starts) {
  CacheKey key = key_of(kDecisionKind, outcome, row_starts);
  key.add("device", to_string(kernel.device))
      .add("precision", to_string(kernel.precision))
      .add("kernels", kernels_of_build(kernel.device, kernel.precision));
  add_settings(key, PartOf::kernel_choice, c);
  return key;
}

CacheKey iterations_key(const Case& c, const CaseOutcome& outcome) {
  CacheKey key(kIterationsKind);
  key.add("pattern", outcome.pattern_hash)
      .add("rows", outcome.problem.rows)
      .add("nonzeros", outcome.problem.nnz)
      .add("b", outcome.problem.rhs)
      .add("x0", outcome.problem.x0);
  add_settings(key, PartOf::iterations, c);
  return key;
}

CacheKey rung_key(const Case& c, const CaseOutcome& outcome) {
  CacheKey key(kRungKind);
  key.add("trireme", outcome.machine.trireme)
      .add("pattern", outcome.pattern_hash)
      .add("rows", outcome.problem.rows)
      .add("nonzeros", outcome.problem.nnz);
  add_settings(key, PartOf::iterations, c);
  return key;
}

CacheKey matching_key(const CaseOutcome& outcome) {
  CacheKey key(kMatchingKind);
  key.add("trireme", outcome.machine.trireme)
      .add("pattern", outcome.pattern_hash)
      .add("values", outcome.values_hash)
      .add("rows", outcome.problem.rows)
      .add("nonzeros", outcome.problem.nnz);
  return key;
}

}  // namespace trireme
