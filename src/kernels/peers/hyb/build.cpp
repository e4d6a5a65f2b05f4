// SPDX-License-Identifier: BSD-3-Clause
// Chooses the width and builds both parts.
#include "kernels/peers/hyb/build.hpp"

#include <algorithm>
#include <functional>

#include "base/stopwatch.hpp"

namespace trireme::hyb {

// As many rows as the rule asks for have at least the length of the last one of them in descending
// order.
std::int64_t choose_width(std::span<const std::int32_t> row_ptr) {
  const auto rows = static_cast<std::int64_t>(row_ptr.size()) - 1;
  const std::int64_t enough = std::max(kMinRows, (rows + 2) / 3);
  if (rows < enough) return 0;
  Array<std::int32_t> lengths(rows);
  for (std::int64_t row = 0; row < rows; ++row) lengths[row] = row_ptr[row + 1] - row_ptr[row];
  const auto last = lengths.begin() + enough - 1;
  std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
  return *last;
}

template <class Value>
Layout<Value> build(const CsrView<Value>& a, std::int64_t width, std::vector<BuildStep>& steps) {
  Stopwatch watch;
  Layout<Value> layout{.ell = pad_rows(a, width), .coo = {}};
  steps.push_back({"pad rows", watch.lap()});
  layout.coo = entries_after(a, width);
  steps.push_back({"set entries apart", watch.lap()});
  return layout;
}

template <class Value>
void fill_values(const CsrView<Value>& a, Layout<Value>& layout) {
  trireme::fill_values(a, layout.ell);
  trireme::fill_values(a, layout.ell.width, layout.coo);
}

template Layout<double> build(const CsrView<double>&, std::int64_t, std::vector<BuildStep>&);
template Layout<float> build(const CsrView<float>&, std::int64_t, std::vector<BuildStep>&);
template void fill_values(const CsrView<double>&, Layout<double>&);
template void fill_values(const CsrView<float>&, Layout<float>&);

}  // namespace trireme::hyb
