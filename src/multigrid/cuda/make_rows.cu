// SPDX-License-Identifier: BSD-3-Clause
// The lists of rows by class, which no functor concerns.
#include "multigrid/cuda/make_rows.cuh"

#include "device/device.hpp"

namespace trireme::multigrid {

DeviceRowMaker::DeviceRowMaker(const CudaPlace& place)
    : place_(place), multiprocessors_(static_cast<unsigned>(multiprocessors())) {}

DeviceRowMaker::Lists DeviceRowMaker::make_lists(std::int64_t rows, int count) const {
  Lists lists;
  for (int list = 0; list < count; ++list) lists.rows[list] = place_.array<std::int32_t>(rows);
  lists.sizes = place_.array<std::int32_t>(row_kernels::kLists);
  fill_zero(lists.sizes.span(), place_.stream());
  if (count == row_kernels::kLists) lists.classes = place_.array<std::uint8_t>(rows);
  return lists;
}

DeviceRowMaker::Lists DeviceRowMaker::lists_of(const DeviceRows& matrix, std::int32_t width,
                                               row_kernels::SumLimits limits) const {
  Lists lists = make_lists(matrix.rows, 3);
  row_kernels::list_rows<<<blocks_for(matrix.rows, row_kernels::kThreads), row_kernels::kThreads, 0,
                           place_.stream()>>>(matrix.rows, width, limits, matrix.row_ptr.data(),
                                              lists.view());
  check_launch();
  return lists;
}

}  // namespace trireme::multigrid
