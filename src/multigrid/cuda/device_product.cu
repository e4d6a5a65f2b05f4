// SPDX-License-Identifier: BSD-3-Clause
// Products by the rows of product_row.hpp, and transposes by a stable sort of the entries.
#include "multigrid/cuda/device_product.hpp"

#include <algorithm>

#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/cuda/members.cuh"
#include "multigrid/cuda/node_products.cuh"
#include "multigrid/cuda/with_run.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/product_row.hpp"

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

// Whether a row has other columns than the first row of its node.
struct DiffersFromNode {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  std::int32_t size;

  __device__ bool operator()(std::int64_t i) const {
    const std::int64_t of_node = i - i % size;
    const std::int32_t first = row_ptr[of_node], length = row_ptr[of_node + 1] - first;
    if (row_ptr[i + 1] - row_ptr[i] != length) return true;
    for (std::int32_t k = 0; k < length; ++k)
      if (col_idx[row_ptr[i] + k] != col_idx[first + k]) return true;
    return false;
  }
};

template <class Value>
struct Gather {
  const Value* from;
  const std::int32_t* source;
  Value* to;

  __device__ void operator()(std::int64_t k) const { to[k] = from[source[k]]; }
};

// Runs per row.
std::int32_t typical(const DeviceCsr<double>& b, std::int32_t width) {
  const std::int64_t runs = b.rows * std::int64_t{width};
  return runs > 0 ? static_cast<std::int32_t>((b.nnz + runs - 1) / runs) : 0;
}

DeviceTransposed pattern_of(std::int64_t cols, DeviceSpan<const std::int32_t> row_ptr,
                            DeviceSpan<const std::int32_t> col_idx, const CudaPlace& place) {
  const auto rows = static_cast<std::int64_t>(row_ptr.size()) - 1;
  const auto nnz = static_cast<std::int64_t>(col_idx.size());
  DeviceMembers by_column = members_of(col_idx, cols, place);
  const auto row_of_entry = place.array<std::int32_t>(nnz);
  place.for_each(rows, WriteRowNumbers{row_ptr.data(), row_of_entry.data()});
  DeviceTransposed t{{cols, rows, std::move(by_column.first), place.array<std::int32_t>(nnz), {}},
                     std::move(by_column.member)};
  place.for_each(
      nnz, Gather<std::int32_t>{row_of_entry.data(), t.source.data(), t.matrix.col_idx.data()});
  return t;
}

}  // namespace

DeviceRows multiply(const DeviceCsr<double>& a, const DeviceCsr<double>& b, bool diagonal,
                    std::int32_t run, StreamRef stream, std::int32_t node) {
  check_product({a.rows, a.cols, b.rows, b.cols}, diagonal);
  const CudaPlace place(stream);
  return with_run(run, [&](auto width) {
    const ProductRow<width> row{MatrixPointers(a), MatrixPointers(b), diagonal, typical(b, width)};
    if constexpr (width > 1) {
      if (node > 1 && node <= kMaxRowsOfNode) {
        DeviceRows product = make_node_pattern<width>(row, a.rows, b.cols, node, place);
        product.values = place.array<double>(product.nnz());
        fill_nodes<width>(product, row, node, place);
        return product;
      }
    }
    return DeviceRowMaker(place).make<width>(a.rows, b.cols, row);
  });
}

void multiply_again(const DeviceCsr<double>& a, const DeviceCsr<double>& b, bool diagonal,
                    std::int32_t run, DeviceRows& product, StreamRef stream, std::int32_t node) {
  const CudaPlace place(stream);
  if (product.values.empty()) product.values = place.array<double>(product.nnz());
  with_run(run, [&](auto width) {
    const ProductRow<width> row{MatrixPointers(a), MatrixPointers(b), diagonal, typical(b, width)};
    if constexpr (width > 1) {
      if (node > 1 && node <= kMaxRowsOfNode) {
        fill_nodes<width>(product, row, node, place);
        return;
      }
    }
    DeviceRowMaker(place).fill<width>(product, row);
  });
}

bool nodes_share_columns(const DeviceCsr<double>& a, std::int32_t size, StreamRef stream) {
  return a.rows % size == 0 &&
         CudaPlace(stream).count(a.rows,
                                 DiffersFromNode{a.row_ptr.data(), a.col_idx.data(), size}) == 0;
}

DeviceRows transposed_pattern(std::int64_t cols, DeviceSpan<const std::int32_t> row_ptr,
                              DeviceSpan<const std::int32_t> col_idx, StreamRef stream) {
  return pattern_of(cols, row_ptr, col_idx, CudaPlace(stream)).matrix;
}

DeviceTransposed transposed(const DeviceCsr<double>& a, StreamRef stream) {
  const CudaPlace place(stream);
  DeviceTransposed t = pattern_of(a.cols, a.row_ptr, a.col_idx, place);
  t.matrix.values = place.array<double>(a.nnz);
  place.for_each(a.nnz, Gather<double>{a.values.data(), t.source.data(), t.matrix.values.data()});
  return t;
}

void take_values(const DeviceRows& a, DeviceSpan<const std::int32_t> source, DeviceRows& transposed,
                 StreamRef stream) {
  CudaPlace(stream).for_each(
      a.nnz(), Gather<double>{a.values.data(), source.data(), transposed.values.data()});
}

}  // namespace trireme::multigrid
