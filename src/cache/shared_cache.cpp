// SPDX-License-Identifier: BSD-3-Clause
// Reading on one rank or on each, one agreement per call.
#include "cache/shared_cache.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "parallel/broadcast.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

bool is_permutation_of_rows(std::span<const std::int32_t> order) {
  std::vector<bool> seen(order.size());
  for (const std::int32_t row : order) {
    if (row < 0 || row >= std::ssize(order) || seen[static_cast<std::size_t>(row)]) return false;
    seen[static_cast<std::size_t>(row)] = true;
  }
  return true;
}

// Throws Error{input}, whose text is a clause without a subject.
Array<std::int32_t> order_of(std::span<const std::byte> payload, std::int64_t rows) {
  Array<std::int32_t> order(static_cast<std::size_t>(rows));
  if (payload.size() != order.size() * sizeof(std::int32_t))
    fail(ExitCode::input, "has not one number per row");
  if (!order.empty()) std::memcpy(order.data(), payload.data(), payload.size());
  if (!is_permutation_of_rows(order)) fail(ExitCode::input, "is no permutation of the rows");
  return order;
}

// The row starts as 64-bit numbers, and the new rows after them. Throws Error{input}, whose text is
// a clause without a subject.
CachedPlacement placement_of(std::span<const std::byte> payload, std::size_t ranks,
                             std::int64_t rows, std::int64_t all_rows) {
  CachedPlacement placement{std::vector<std::int64_t>(ranks + 1),
                            Array<std::int32_t>(static_cast<std::size_t>(rows))};
  const std::size_t head = placement.row_starts.size() * sizeof(std::int64_t);
  if (payload.size() != head + placement.new_rows.size() * sizeof(std::int32_t))
    fail(ExitCode::input, "has not one number per row");
  std::memcpy(placement.row_starts.data(), payload.data(), head);
  if (!placement.new_rows.empty())
    std::memcpy(placement.new_rows.data(), payload.data() + head, payload.size() - head);
  const auto& starts = placement.row_starts;
  if (starts.front() != 0 || starts.back() != all_rows ||
      !std::is_sorted(starts.begin(), starts.end()))
    fail(ExitCode::input, "does not cut the rows");
  for (const std::int32_t row : placement.new_rows)
    if (row < 0 || row >= all_rows) fail(ExitCode::input, "has a number that is no row");
  return placement;
}

// Whether every rank has a placement, with the cuts of rank 0. Collective.
bool fits_together(MPI_Comm comm, const std::optional<CachedPlacement>& placement) {
  std::vector<std::int64_t> starts(size_of(comm) + std::size_t{1});
  if (placement) starts = placement->row_starts;
  MPI_Bcast(starts.data(), static_cast<int>(starts.size()), MPI_INT64_T, 0, comm);
  return sum_over_ranks(comm, placement && placement->row_starts == starts ? 0 : 1) == 0;
}

}  // namespace

SharedCache::SharedCache(MPI_Comm comm, const std::filesystem::path& directory,
                         std::uint64_t max_bytes)
    : comm_(comm) {
  if (!directory.empty()) cache_.emplace(directory, max_bytes);
}

CacheKey SharedCache::of_this_rank(const CacheKey& key) const {
  return CacheKey(key).add("rank", fmt::format("{} of {}", rank_of(comm_), size_of(comm_)));
}

std::optional<KernelDecision> SharedCache::find_decision(
    const CacheKey& key, const std::function<bool(const KernelDecision&)>& usable) {
  if (!cache_) return std::nullopt;
  std::string payload;
  if (rank_of(comm_) == 0) {
    if (const auto hit = cache_->find(key)) {
      try {
        const KernelDecision decision = kernel_decision(hit->payload);
        if (usable && !usable(decision))
          fail(ExitCode::input, "names a kernel or an order that this program lacks");
        payload.assign(reinterpret_cast<const char*>(hit->payload.data()), hit->payload.size());
      } catch (const Error& error) {
        cache_->reject(key, error.what());
      }
    }
  }
  payload = broadcast(comm_, std::move(payload), 0);
  if (payload.empty()) return std::nullopt;
  KernelDecision decision = kernel_decision(bytes_of(payload));
  decision.trial.from_cache = true;
  return decision;
}

void SharedCache::keep_decision(const CacheKey& key, const KernelDecision& decision,
                                double made_in_seconds) {
  if (cache_ && rank_of(comm_) == 0)
    cache_->keep(key, bytes_of(to_payload(decision)), made_in_seconds);
}

std::optional<std::int64_t> SharedCache::find_number(const CacheKey& key) {
  if (!cache_) return std::nullopt;
  std::int64_t number = -1;
  if (rank_of(comm_) == 0) {
    if (const auto hit = cache_->find(key)) {
      if (hit->payload.size() == sizeof number)
        std::memcpy(&number, hit->payload.data(), sizeof number);
      if (number < 0) cache_->reject(key, "is no number");
    }
  }
  MPI_Bcast(&number, 1, MPI_INT64_T, 0, comm_);
  return number < 0 ? std::nullopt : std::optional(number);
}

void SharedCache::keep_number(const CacheKey& key, std::int64_t number) {
  if (cache_ && rank_of(comm_) == 0) cache_->keep(key, std::as_bytes(std::span(&number, 1)), 0);
}

std::optional<Array<std::int32_t>> SharedCache::find_order(const CacheKey& key, std::int64_t rows) {
  if (!cache_) return std::nullopt;
  const CacheKey own = of_this_rank(key);
  std::optional<Array<std::int32_t>> order;
  if (const auto hit = cache_->find(own)) {
    try {
      order = order_of(hit->payload, rows);
    } catch (const Error& error) {
      cache_->reject(own, error.what());
    } catch (const std::bad_alloc&) {
      order.reset();
    }
  }
  const std::int64_t missing = sum_over_ranks(comm_, order ? 0 : 1);
  if (missing > 0) order.reset();
  return order;
}

void SharedCache::keep_order(const CacheKey& key, std::span<const std::int32_t> order,
                             double made_in_seconds) {
  if (cache_) cache_->keep(of_this_rank(key), std::as_bytes(order), made_in_seconds);
}

std::optional<CachedPlacement> SharedCache::find_placement(
    const CacheKey& key, std::span<const std::int64_t> row_starts) {
  if (!cache_) return std::nullopt;
  const CacheKey own = of_this_rank(key);
  const int rank = rank_of(comm_);
  std::optional<CachedPlacement> placement;
  if (const auto hit = cache_->find(own)) {
    try {
      placement = placement_of(hit->payload, row_starts.size() - 1,
                               row_starts[rank + 1] - row_starts[rank], row_starts.back());
    } catch (const Error& error) {
      cache_->reject(own, error.what());
    } catch (const std::bad_alloc&) {
      placement.reset();
    }
  }
  if (!fits_together(comm_, placement)) placement.reset();
  return placement;
}

void SharedCache::keep_placement(const CacheKey& key, const CachedPlacement& placement,
                                 double made_in_seconds) {
  if (!cache_) return;
  const auto starts = std::as_bytes(std::span(placement.row_starts));
  const auto rows = std::as_bytes(std::span<const std::int32_t>(placement.new_rows));
  Array<std::byte> payload(starts.size() + rows.size());
  std::ranges::copy(starts, payload.begin());
  std::ranges::copy(rows, payload.begin() + static_cast<std::ptrdiff_t>(starts.size()));
  cache_->keep(of_this_rank(key), payload, made_in_seconds);
}

bool SharedCache::holds(Holder holder) const {
  return holder == Holder::each_rank || rank_of(comm_) == 0;
}

std::optional<Array<std::byte>> SharedCache::find_bytes(const CacheKey& key, Holder holder) {
  if (!cache_) return std::nullopt;
  Array<std::byte> bytes;
  bool found = true;
  if (holds(holder)) {
    std::optional<CacheHit> hit =
        cache_->find(holder == Holder::each_rank ? of_this_rank(key) : key);
    found = hit.has_value();
    if (hit) bytes = std::move(hit->payload);
  }
  if (sum_over_ranks(comm_, found ? 0 : 1) > 0) return std::nullopt;
  return bytes;
}

void SharedCache::keep_bytes(const CacheKey& key, Holder holder, std::span<const std::byte> bytes,
                             double made_in_seconds) {
  if (cache_ && holds(holder))
    cache_->keep(holder == Holder::each_rank ? of_this_rank(key) : key, bytes, made_in_seconds);
}

void SharedCache::reject_bytes(const CacheKey& key, Holder holder, std::string_view fault) {
  if (cache_ && holds(holder))
    cache_->reject(holder == Holder::each_rank ? of_this_rank(key) : key, fault);
}

std::optional<Array<std::byte>> SharedCache::find_part(const CacheKey& key) {
  std::optional<Array<std::byte>> bytes = find_bytes(key, Holder::each_rank);
  if (bytes) found_parts_.push_back(key);
  return bytes;
}

std::int64_t SharedCache::size_of_parts(const CacheKey& key) const {
  if (!cache_) return 0;
  const auto head = cache_->head_of(of_this_rank(key));
  const std::int64_t missing = sum_over_ranks(comm_, head ? 0 : 1);
  const std::int64_t bytes =
      sum_over_ranks(comm_, head ? static_cast<std::int64_t>(head->payload_bytes) : 0);
  return missing > 0 ? 0 : bytes;
}

bool SharedCache::keep_part(const CacheKey& key, std::span<const std::byte> bytes,
                            double made_in_seconds) {
  const bool kept = cache_ && cache_->keep(of_this_rank(key), bytes, made_in_seconds);
  return sum_over_ranks(comm_, kept ? 0 : 1) == 0;
}

void SharedCache::reject_found_parts(std::string_view fault) {
  for (const CacheKey& key : std::exchange(found_parts_, {})) reject_part(key, fault);
}

std::vector<std::string> SharedCache::take_notes() {
  if (!cache_) return {};
  std::string text;
  for (const std::string& note : cache_->take_notes()) text += note + '\n';
  int lowest = text.empty() ? size_of(comm_) : rank_of(comm_);
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm_);
  if (lowest == size_of(comm_)) return {};
  text = broadcast(comm_, std::move(text), lowest);
  std::vector<std::string> notes;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    notes.push_back(text.substr(at, text.find('\n', at) - at));
  return notes;
}

}  // namespace trireme
