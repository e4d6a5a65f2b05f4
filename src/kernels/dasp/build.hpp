// SPDX-License-Identifier: BSD-3-Clause
// Builds the DASP layout on the host.
#pragma once

#include <vector>

#include "kernels/dasp/layout.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme::dasp {

// Takes O(nnz) time, with one counting sort of the rows by length. The work is shared between the
// OpenMP threads; the layout does not depend on their number. Rows longer than `max_len` (at least
// 4) are long. The timed steps are appended to `steps`. Throws Error{input} when a part has more
// than 2^31-1 stored entries. Instantiated for the types at the end of build.cpp.
template <class Value, int M = 8, int K = 4, class Source = Value>
Layout<Value, M, K> build(const CsrView<Source>& matrix, std::vector<BuildStep>& steps,
                          std::int32_t max_len = kMaxLen);

// Stores new values on the pattern that `layout` was built from. Reads only row_ptr and values of
// `matrix`.
template <class Value, int M, int K, class Source>
void update_values(Layout<Value, M, K>& layout, const CsrView<Source>& matrix);

}  // namespace trireme::dasp
