// SPDX-License-Identifier: BSD-3-Clause
// What `problem cache` shows of a hierarchy that a rank has kept, without the matrix that it is
// for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trireme::multigrid {

struct StoredOutline {
  struct Level {
    std::int64_t rows = 0, nonzeros = 0;  // of this rank
  };
  double set_up_seconds = 0;       // of building the hierarchy
  std::int64_t levels = 0;         // with that of the matrix; 0: a remark that reading was slower
  std::vector<Level> coarse = {};  // all levels but the first one
};

// The bytes that outline_of_start() needs.
inline constexpr std::size_t kOutlineStart = 24;

// The outline from the first bytes of a hierarchy, without its coarse levels. Throws Error{input},
// whose text is a clause without a subject, for bytes that cannot be the start of one.
StoredOutline outline_of_start(std::span<const std::byte> start);
// The outline of all bytes of a hierarchy. Throws likewise.
StoredOutline outline_of(std::span<const std::byte> bytes);

}  // namespace trireme::multigrid
