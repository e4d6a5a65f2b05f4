// SPDX-License-Identifier: BSD-3-Clause
// Advises the pages that lie within the memory as a whole.
#include "base/huge_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace trireme {

void prefer_huge_pages(void* data, std::size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  auto* const begin = static_cast<std::byte*>(data) + (first - address);
  if (end > first) madvise(begin, end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace trireme
