// SPDX-License-Identifier: BSD-3-Clause
// A counting sort by several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "multigrid/set_up/host_place.hpp"

namespace trireme::multigrid {

// Into how many parts n items are cut. The counters, one per key and part, are no more than the
// items.
inline int parts_to_sort(std::int64_t n, std::int64_t keys) {
  return static_cast<int>(
      std::clamp<std::int64_t>(n / std::max<std::int64_t>(keys, 1000), 1, omp_get_max_threads()));
}

// Gives each item a place, so that items are in the order of their keys, which are 0 .. keys - 1,
// and those of a key in the order of the parts and, within a part, in the order of visit_part(part,
// visit), which calls visit(key, item) for each item of the part, the same ones each time. Calls
// put(place, item) once per item. Returns where the items of each key begin; the last number is
// that of all items, which `make_room` gets before the first call of put().
template <class VisitPart, class MakeRoom, class Put>
Array<std::int32_t> sort_by_key(std::int64_t keys, int parts, const VisitPart& visit_part,
                                const MakeRoom& make_room, const Put& put) {
  std::vector<Array<std::int32_t>> next(parts);
  for (Array<std::int32_t>& counts : next) counts.resize(keys);
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    std::int32_t* const counts = next[part].data();
    std::fill_n(counts, keys, 0);
    visit_part(part, [=](std::int32_t key, auto) { ++counts[key]; });
  }
  Array<std::int32_t> first(keys + 1);
  HostPlace::for_each(keys, [&](std::int64_t key) {
    std::int32_t count = 0;
    for (const Array<std::int32_t>& counts : next) count += counts[key];
    first[key] = count;
  });
  make_room(HostPlace::sum_exclusively(first));
  HostPlace::for_each(keys, [&](std::int64_t key) {
    std::int32_t place = first[key];
    for (Array<std::int32_t>& counts : next) place += std::exchange(counts[key], place);
  });
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    std::int32_t* const places = next[part].data();
    visit_part(part, [&](std::int32_t key, auto item) { put(places[key]++, item); });
  }
  return first;
}

}  // namespace trireme::multigrid
