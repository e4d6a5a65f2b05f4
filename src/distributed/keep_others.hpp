// SPDX-License-Identifier: BSD-3-Clause
// Removes elements of a large array by all threads, in place.
//
//   removed at 2 and 5     a b . c | d . e f      two parts
//   each part by itself    a b c _ | d e f _
//   the parts together     a b c d | e f _ _      d waits in a copy until part 0 is complete
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/array.hpp"
#include "sparse/partition.hpp"

namespace trireme {

// The number of ascending positions before `position`.
inline std::int64_t positions_before(std::span<const std::int64_t> positions,
                                     std::int64_t position) {
  return std::lower_bound(positions.begin(), positions.end(), position) - positions.begin();
}

// Writes convert(element) of all elements of `from` but those at the ascending positions `removed`
// to `to`, one after the other. `to` is `from` or does not overlap with it, and has room for
// from.size() elements, of which those behind the result are undefined afterwards. A copy of at
// most removed.size() elements per thread exists meanwhile.
template <class From, class To, class Convert = std::identity>
void keep_others(std::span<const From> from, std::span<const std::int64_t> removed, To* to,
                 const Convert& convert = {}) {
  const std::int64_t count = std::ssize(from);
  const int parts = omp_get_max_threads();
  struct Part {
    std::int64_t first, last;  // of `from`
    std::int64_t shift;        // elements that were removed before it
    std::int64_t kept;
    Array<To> head;  // its elements that come to lie before `first`
  };
  std::vector<Part> all(parts);
  for (int p = 0; p < parts; ++p) {
    Part& part = all[p];
    part.first = even_share(count, parts, p);
    part.last = even_share(count, parts, p + 1);
    part.shift = positions_before(removed, part.first);
    part.kept = part.last - part.first - (positions_before(removed, part.last) - part.shift);
    part.head.resize(std::min(part.shift, part.kept));
  }
#pragma omp parallel for schedule(static, 1)
  for (int p = 0; p < parts; ++p) {
    Part& part = all[p];
    To* out = to + part.first;
    std::int64_t next = part.first;
    for (std::int64_t gone = part.shift; next < part.last; ++gone) {
      const std::int64_t end =
          gone < std::ssize(removed) ? std::min(removed[gone], part.last) : part.last;
      const From* const in = from.data() + next;
      bool in_place = false;
      if constexpr (std::is_same_v<From, To> && std::is_same_v<Convert, std::identity>)
        in_place = in == out;
      if (!in_place) std::transform(in, in + (end - next), out, convert);
      out += end - next;
      next = end + 1;
    }
    To* const begin = to + part.first;
    const std::int64_t ahead = std::ssize(part.head);
    std::copy(begin, begin + ahead, part.head.begin());
    if (ahead > 0) std::copy(begin + ahead, begin + part.kept, begin);
  }
#pragma omp parallel for schedule(static, 1)
  for (int p = 0; p < parts; ++p)
    std::copy(all[p].head.begin(), all[p].head.end(), to + all[p].first - all[p].shift);
}

}  // namespace trireme
