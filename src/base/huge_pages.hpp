// SPDX-License-Identifier: BSD-3-Clause
// Large arrays in pages of 2 MiB: the first touch of their memory, and random access to it, are
// then several times as fast as with pages of 4 KiB.
#pragma once

#include <cstddef>

namespace trireme {

constexpr std::size_t kHugePagesFromBytes = std::size_t{8} << 20;

// Asks the system for huge pages for memory that nobody has touched. It is advice only: where the
// system has none, nothing changes.
void prefer_huge_pages(void* data, std::size_t bytes) noexcept;

}  // namespace trireme
