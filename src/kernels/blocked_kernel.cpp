// SPDX-License-Identifier: BSD-3-Clause
// Passes the parts of y and of the values on to the kernels.
#include "kernels/blocked_kernel.hpp"

#include <algorithm>

namespace trireme {

template <class Value>
void BlockedKernel<Value>::multiply(std::span<const Value> x, std::span<Value> y,
                                    Accumulate accumulate) {
  for (const Block& block : blocks_)
    block.kernel->multiply(x, y.subspan(block.first_row, block.rows), accumulate);
}

template <class Value>
void BlockedKernel<Value>::update_values(std::span<const Value> values) {
  for (const Block& block : blocks_)
    block.kernel->update_values(values.subspan(block.first_entry, block.nnz));
}

// Steps of the same name are one step.
template <class Value>
KernelStatistics BlockedKernel<Value>::statistics() const {
  KernelStatistics all;
  double stored = 0, nnz = 0;
  for (const Block& block : blocks_) {
    const KernelStatistics one = block.kernel->statistics();
    all.stored_bytes += one.stored_bytes;
    stored += one.padding_ratio * static_cast<double>(block.nnz);
    nnz += static_cast<double>(block.nnz);
    for (const BuildStep& step : one.steps) {
      const auto known = std::ranges::find(all.steps, step.name, &BuildStep::name);
      if (known == all.steps.end())
        all.steps.push_back(step);
      else
        known->seconds += step.seconds;
    }
  }
  if (nnz > 0) all.padding_ratio = stored / nnz;
  return all;
}

template <class Value>
bool BlockedKernel<Value>::multiplies_vectors() const {
  return std::ranges::all_of(blocks_,
                             [](const Block& block) { return block.kernel->multiplies_vectors(); });
}

template <class Value>
void BlockedKernel<Value>::multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                                          Accumulate accumulate) {
  for (const Block& block : blocks_) {
    MultiVector<Value> rows = y;
    rows.data += block.first_row * y.row_stride;
    rows.rows = block.rows;
    block.kernel->multi_multiply(x, rows, accumulate);
  }
}

template class BlockedKernel<double>;
template class BlockedKernel<float>;
template class BlockedKernel<std::int32_t>;

}  // namespace trireme
