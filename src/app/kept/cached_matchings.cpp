// SPDX-License-Identifier: BSD-3-Clause
// A matching as bytes: the seconds that it took to find it, the scales of the rows, those of the
// columns, and the columns of the rows.
#include "app/kept/cached_matchings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// As for hierarchies (multigrid/store/find_or_build.hpp).
constexpr double kBytesPerSecond = 0.5e9;

template <class Number>
std::size_t bytes_of(const std::vector<Number>& numbers) {
  return numbers.size() * sizeof(Number);
}

// Calls part(array) for the arrays in their order.
template <class Matching, class Part>
void for_parts(Matching& matching, const Part& part) {
  part(matching.row_log2);
  part(matching.column_log2);
  part(matching.column_of_row);
}

Array<std::byte> to_bytes(const Transversal& matching, double made_in_seconds) {
  std::size_t size = sizeof made_in_seconds;
  for_parts(matching, [&](const auto& numbers) { size += bytes_of(numbers); });
  Array<std::byte> bytes(size);
  std::memcpy(bytes.data(), &made_in_seconds, sizeof made_in_seconds);
  std::byte* at = bytes.data() + sizeof made_in_seconds;
  for_parts(matching, [&](const auto& numbers) {
    if (!numbers.empty()) std::memcpy(at, numbers.data(), bytes_of(numbers));
    at += bytes_of(numbers);
  });
  return bytes;
}

bool is_permutation(const std::vector<std::int32_t>& columns) {
  std::vector<bool> seen(columns.size());
  for (const std::int32_t column : columns) {
    if (column < 0 || column >= std::ssize(columns) || seen[column]) return false;
    seen[column] = true;
  }
  return true;
}

// Throws Error{input}, whose text is a clause without a subject.
Transversal matching_of(std::span<const std::byte> bytes, std::int64_t rows) {
  Transversal matching;
  std::size_t size = 0;
  for_parts(matching, [&](auto& numbers) {
    numbers.resize(static_cast<std::size_t>(rows));
    size += bytes_of(numbers);
  });
  if (bytes.size() != size) fail(ExitCode::input, "has not two scales and a column per row");
  const std::byte* at = bytes.data();
  for_parts(matching, [&](auto& numbers) {
    if (!numbers.empty()) std::memcpy(numbers.data(), at, bytes_of(numbers));
    at += bytes_of(numbers);
  });
  if (!is_permutation(matching.column_of_row))
    fail(ExitCode::input, "does not give each row a column of its own");
  matching.structure.rank = rows;
  return matching;
}

double seconds_of(std::span<const std::byte> bytes) {
  double seconds = 0;
  if (bytes.size() >= sizeof seconds) std::memcpy(&seconds, bytes.data(), sizeof seconds);
  return seconds;
}

}  // namespace

CachedMatchings::CachedMatchings(MPI_Comm comm, SharedCache& cache, CacheKey whole, CacheKey blocks,
                                 double least_saving)
    : comm_(comm),
      cache_(cache),
      whole_{.key = std::move(whole), .holder = Holder::rank_zero},
      blocks_{.key = std::move(blocks), .holder = Holder::each_rank},
      least_saving_(least_saving) {}

std::optional<KeptMatching> CachedMatchings::find(Matched what, std::int64_t rows) {
  Entry& of = entry(what);
  if (of.of_this_run) return KeptMatching{of.of_this_run, "an earlier solve of this run"};
  const auto bytes = cache_.find_bytes(of.key, of.holder);
  if (!bytes) return std::nullopt;
  const double seconds = max_over_ranks(comm_, seconds_of(*bytes));
  const bool holds = of.holder == Holder::each_rank || rank_of(comm_) == 0;
  std::shared_ptr<const Transversal> found;
  try {
    found = std::make_shared<const Transversal>(
        holds
            ? matching_of(std::span(*bytes).subspan(std::min(bytes->size(), sizeof seconds)), rows)
            : Transversal());
  } catch (const Error& error) {
    cache_.reject_bytes(of.key, of.holder, error.what());
  } catch (const std::bad_alloc&) {
    found.reset();
  }
  if (any_rank(comm_, !found)) return std::nullopt;
  of.of_this_run = found;
  return KeptMatching{
      std::move(found),
      fmt::format("an earlier run, which found it in {:.2g} s and kept it in the cache", seconds)};
}

void CachedMatchings::keep(Matched what, std::shared_ptr<const Transversal> found,
                           double made_in_seconds) {
  Entry& of = entry(what);
  of.of_this_run = std::move(found);
  try {
    const Array<std::byte> bytes = to_bytes(*of.of_this_run, made_in_seconds);
    const double reading = static_cast<double>(bytes.size()) / kBytesPerSecond;
    if (made_in_seconds - reading >= least_saving_)
      cache_.keep_bytes(of.key, of.holder, bytes, made_in_seconds);
  } catch (const std::bad_alloc&) {
    return;  // the next run matches anew
  }
}

void CachedMatchings::reject(Matched what, std::string_view fault) {
  Entry& of = entry(what);
  of.of_this_run.reset();
  cache_.reject_bytes(of.key, of.holder, fault);
}

}  // namespace trireme
