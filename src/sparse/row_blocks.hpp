// SPDX-License-Identifier: BSD-3-Clause
// Cuts the rows of a matrix into blocks whose nonzeros 32-bit offsets can count.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme {

// The largest number of nonzeros per block. CUDA kernels count the entries of a block by 32 bits,
// and their loops go beyond the last entry by less than 2^16.
inline constexpr std::int64_t kNonzerosOfBlock = kMostNonzerosOfBlock + 1 - (std::int64_t{1} << 16);

// The first rows of all blocks but the first one, where entries_before(row), which does not
// decrease, is the number of nonzeros in the rows before `row`. Each block is as long as `most`
// nonzeros allow. Throws Error{resource}, with `name` and the row, for a row of more nonzeros. Asks
// O(log(rows)) times per block.
std::vector<std::int64_t> cut_rows_into_blocks(
    std::int64_t rows, std::int64_t most, const std::string& name,
    const std::function<std::int64_t(std::int64_t row)>& entries_before);

// Sets rows, row_ptr and cuts for rows of these lengths; the entries are left alone. Returns the
// number of nonzeros. Throws what cut_rows_into_blocks() throws.
std::int64_t set_row_lengths(std::span<const std::int32_t> lengths, std::int64_t most,
                             const std::string& name, CsrMatrix<double>& matrix);

// Cuts the rows again, into blocks of at most `most` nonzeros. Throws what cut_rows_into_blocks()
// throws.
template <class Value>
void cut_again(CsrMatrix<Value>& matrix, std::int64_t most);

}  // namespace trireme
