// SPDX-License-Identifier: BSD-3-Clause
// Passes the parts of y and of the values on to the kernels.
#include "kernels/blocked_cuda_kernel.hpp"

#include <algorithm>

#include "kernels/row_block_dot.hpp"

namespace trireme {
namespace {

template <class Value>
RowBlockDot<Value>* with_dot(CudaKernel<Value>& kernel) {
  return dynamic_cast<RowBlockDot<Value>*>(&kernel);
}

}  // namespace

template <class Value>
BlockedCudaKernel<Value>::BlockedCudaKernel(std::vector<Part> parts, std::int64_t cols)
    : parts_(std::move(parts)) {
  const Part& last = parts_.back();
  if (last.first_row + last.rows != cols ||
      !std::ranges::all_of(parts_, [](const Part& part) { return with_dot(*part.kernel); }))
    return;
  for (const Part& part : parts_) dot_partials_ += with_dot(*part.kernel)->block_dot_partials();
}

template <class Value>
void BlockedCudaKernel<Value>::multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y,
                                        Accumulate accumulate, StreamRef stream) {
  for (Part& part : parts_)
    part.kernel->multiply(x, y.subspan(part.first_row, part.rows), accumulate, stream);
}

template <class Value>
void BlockedCudaKernel<Value>::update_values(DeviceSpan<const Value> values, StreamRef stream) {
  for (Part& part : parts_)
    part.kernel->update_values(values.subspan(part.first_entry, part.nnz), stream);
}

// Steps of the same name are one step.
template <class Value>
KernelStatistics BlockedCudaKernel<Value>::statistics() const {
  KernelStatistics all;
  double padding = 0, nnz = 0;
  for (const Part& part : parts_) {
    const KernelStatistics one = part.kernel->statistics();
    all.stored_bytes += one.stored_bytes;
    padding += one.padding_ratio * static_cast<double>(part.nnz);
    nnz += static_cast<double>(part.nnz);
    for (const BuildStep& step : one.steps) {
      auto known = std::ranges::find(all.steps, step.name, &BuildStep::name);
      if (known == all.steps.end()) known = all.steps.insert(known, {step.name, 0});
      known->seconds += step.seconds;
    }
  }
  if (nnz > 0) all.padding_ratio = padding / nnz;
  return all;
}

template <class Value>
bool BlockedCudaKernel<Value>::multiplies_vectors() const {
  return std::ranges::all_of(parts_,
                             [](const Part& part) { return part.kernel->multiplies_vectors(); });
}

template <class Value>
void BlockedCudaKernel<Value>::multi_multiply(DeviceMultiVector<const Value> x,
                                              DeviceMultiVector<Value> y, Accumulate accumulate,
                                              StreamRef stream) {
  for (Part& part : parts_)
    part.kernel->multi_multiply(
        x,
        {y.data + part.first_row * y.row_stride, part.rows, y.width, y.row_stride, y.vector_stride},
        accumulate, stream);
}

template <class Value>
void BlockedCudaKernel<Value>::multiply_and_dot(DeviceSpan<const Value> x, DeviceSpan<Value> y,
                                                DeviceSpan<double> partials, StreamRef stream) {
  std::size_t before = 0;
  for (Part& part : parts_) {
    RowBlockDot<Value>& kernel = *with_dot(*part.kernel);
    const std::size_t count = kernel.block_dot_partials();
    kernel.multiply_block_and_dot(x, x.subspan(part.first_row, part.rows),
                                  y.subspan(part.first_row, part.rows),
                                  partials.subspan(before, count), stream);
    before += count;
  }
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_by_blocks(const EachRowBlock<Value>& each_block,
                                                   const CudaKernelBuilder<Value>& build) {
  std::vector<typename BlockedCudaKernel<Value>::Part> parts;
  std::int64_t cols = 0;
  each_block([&](const DeviceRowBlock<Value>& block) {
    cols = block.csr.cols;
    parts.push_back({.first_row = block.first_row,
                     .rows = block.csr.rows,
                     .first_entry = block.first_entry,
                     .nnz = block.csr.nnz,
                     .kernel = build(block.csr)});
  });
  if (parts.size() == 1) return std::move(parts.front().kernel);
  return std::make_unique<BlockedCudaKernel<Value>>(std::move(parts), cols);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_by_blocks(std::span<const DeviceRowBlock<Value>> blocks,
                                                   const CudaKernelBuilder<Value>& build) {
  return build_by_blocks<Value>(
      [blocks](const auto& visit) {
        for (const DeviceRowBlock<Value>& block : blocks) visit(block);
      },
      build);
}

template class BlockedCudaKernel<double>;
template class BlockedCudaKernel<float>;
template std::unique_ptr<CudaKernel<double>> build_by_blocks(const EachRowBlock<double>&,
                                                             const CudaKernelBuilder<double>&);
template std::unique_ptr<CudaKernel<float>> build_by_blocks(const EachRowBlock<float>&,
                                                            const CudaKernelBuilder<float>&);
template std::unique_ptr<CudaKernel<double>> build_by_blocks(
    std::span<const DeviceRowBlock<double>>, const CudaKernelBuilder<double>&);
template std::unique_ptr<CudaKernel<float>> build_by_blocks(std::span<const DeviceRowBlock<float>>,
                                                            const CudaKernelBuilder<float>&);

}  // namespace trireme
