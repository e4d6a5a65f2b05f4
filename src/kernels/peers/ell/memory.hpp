// SPDX-License-Identifier: BSD-3-Clause
// The limit on the memory of padded rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme::ell {

// The maximum memory of the padded rows, as a multiple of that of the same matrix as CSR.
inline constexpr int kMaxMemory = 10;

// Throws Error{resource} where rows that are padded to `width` exceed the limit. `value_bytes` is
// the size of a stored value.
void require_memory(std::int64_t rows, std::int64_t nnz, std::int64_t width,
                    std::size_t value_bytes);

}  // namespace trireme::ell
