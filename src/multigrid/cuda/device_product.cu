// SPDX-License-Identifier: BSD-3-Clause
// Products by the rows of product_row.hpp, and transposes by a stable sort of the entries.
#include "multigrid/cuda/device_product.hpp"

#include <algorithm>

#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/cuda/members.cuh"
#include "multigrid/cuda/with_run.hpp"
#include "multigrid/product_row.hpp"
#include "multigrid/refusals.hpp"

namespace trireme::multigrid {
namespace {

struct WriteRowNumbers {
  const std::int32_t* row_ptr;
  std::int32_t* row;

  __device__ void operator()(std::int64_t i) const {
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      row[k] = static_cast<std::int32_t>(i);
  }
};

template <class Value>
struct Gather {
  const Value* from;
  const std::int32_t* source;
  Value* to;

  __device__ void operator()(std::int64_t k) const { to[k] = from[source[k]]; }
};

}  // namespace

DeviceRows multiply(const DeviceCsr<double>& a, const DeviceCsr<double>& b, bool diagonal,
                    std::int32_t run, StreamRef stream) {
  check_product({a.rows, a.cols, b.rows, b.cols}, diagonal);
  const CudaPlace place(stream);
  return with_run(run, [&](auto width) {
    return DeviceRowMaker(place).make<width>(
        a.rows, b.cols, ProductRow<width>{MatrixPointers(a), MatrixPointers(b), diagonal});
  });
}

void multiply_again(const DeviceCsr<double>& a, const DeviceCsr<double>& b, bool diagonal,
                    std::int32_t run, DeviceRows& product, StreamRef stream) {
  const CudaPlace place(stream);
  if (product.values.empty()) product.values = place.array<double>(product.nnz());
  with_run(run, [&](auto width) {
    DeviceRowMaker(place).fill<width>(
        product, ProductRow<width>{MatrixPointers(a), MatrixPointers(b), diagonal});
  });
}

DeviceTransposed transposed(const DeviceCsr<double>& a, StreamRef stream) {
  const CudaPlace place(stream);
  DeviceMembers by_column = members_of(a.col_idx, a.cols, place);
  const auto rows = place.array<std::int32_t>(a.nnz);
  place.for_each(a.rows, WriteRowNumbers{a.row_ptr.data(), rows.data()});
  DeviceTransposed t{{a.cols, a.rows, std::move(by_column.first), place.array<std::int32_t>(a.nnz),
                      place.array<double>(a.nnz)},
                     std::move(by_column.member)};
  place.for_each(a.nnz,
                 Gather<std::int32_t>{rows.data(), t.source.data(), t.matrix.col_idx.data()});
  t.renew(a.values, stream);
  return t;
}

void DeviceTransposed::renew(DeviceSpan<const double> values, StreamRef stream) {
  CudaPlace(stream).for_each(matrix.nnz(),
                             Gather<double>{values.data(), source.data(), matrix.values.data()});
}

}  // namespace trireme::multigrid
