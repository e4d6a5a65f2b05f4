// SPDX-License-Identifier: BSD-3-Clause
// Builds the DASP layout on the host.
#pragma once

#include <vector>

#include "kernels/dasp/layout.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme::dasp {

// O(nnz), with one counting sort of the rows by length; OpenMP-parallel; the layout does not depend
// on the number of threads. Rows longer than `max_len` (at least 4) are long. Appends its timed
// steps to `steps`. Throws Error{input} when a part has more than 2^31-1 stored entries.
template <class Value, int M = 8, int K = 4, class Source = Value>
Layout<Value, M, K> build(const CsrView<Source>& matrix, std::vector<BuildStep>& steps,
                          std::int32_t max_len = kMaxLen);

// New values for the pattern that `layout` was built from; only row_ptr and values of `matrix` are
// read.
template <class Value, int M, int K, class Source>
void update_values(Layout<Value, M, K>& layout, const CsrView<Source>& matrix);

}  // namespace trireme::dasp
