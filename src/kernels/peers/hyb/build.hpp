// SPDX-License-Identifier: BSD-3-Clause
// Builds the HYB layout on the host.
#pragma once

#include <span>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/peers/hyb/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme::hyb {

// The width by the rule of layout.hpp; 0 where a matrix has fewer than kMinRows rows. `row_ptr` has
// rows + 1 offsets.
std::int64_t choose_width(std::span<const std::int32_t> row_ptr);

// The timed steps are appended to `steps`. Value: double, float.
template <class Value>
Layout<Value> build(const CsrView<Value>& a, std::int64_t width, std::vector<BuildStep>& steps);

// Stores new values on the same pattern.
template <class Value>
void fill_values(const CsrView<Value>& a, Layout<Value>& layout);

}  // namespace trireme::hyb
