// SPDX-License-Identifier: BSD-3-Clause
// Sorts the items by their parts. The sort is stable, so that items ascend within a part.
#include "multigrid/cuda/members.cuh"

#include <bit>

#include "device/sort.hpp"

namespace trireme::multigrid {
namespace {

// Parts as keys; -1 becomes the number of parts.
struct WriteKey {
  const std::int32_t* part;
  std::uint32_t parts;
  std::uint32_t* key;
  std::int32_t* item;

  __device__ void operator()(std::int64_t i) const {
    key[i] = part[i] < 0 ? parts : static_cast<std::uint32_t>(part[i]);
    item[i] = static_cast<std::int32_t>(i);
  }
};

// first[p] = the number of keys below p.
struct FindFirst {
  const std::uint32_t* key;
  std::int64_t count;
  std::int32_t* first;

  __device__ void operator()(std::int64_t p) const {
    std::int64_t low = 0, high = count;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (static_cast<std::int64_t>(key[middle]) < p)
        low = middle + 1;
      else
        high = middle;
    }
    first[p] = static_cast<std::int32_t>(low);
  }
};

}  // namespace

DeviceMembers members_of(DeviceSpan<const std::int32_t> part_of_item, std::int64_t parts,
                         const CudaPlace& place) {
  const auto count = static_cast<std::int64_t>(part_of_item.size());
  DeviceMembers members{place.array<std::int32_t>(parts + 1), place.array<std::int32_t>(count)};
  const auto keys = place.array<std::uint32_t>(count), sorted = place.array<std::uint32_t>(count);
  const auto items = place.array<std::int32_t>(count);
  place.for_each(count, WriteKey{part_of_item.data(), static_cast<std::uint32_t>(parts),
                                 keys.data(), items.data()});
  if (count > 0)
    sort_pairs(keys.view(), sorted.span(), items.view(), members.member.span(),
               static_cast<int>(std::bit_width(static_cast<std::uint64_t>(parts))), place.stream());
  place.for_each(parts + 1, FindFirst{sorted.data(), count, members.first.data()});
  return members;
}

}  // namespace trireme::multigrid
