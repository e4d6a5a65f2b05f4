// SPDX-License-Identifier: BSD-3-Clause
// The functors of border_functors.hpp on a GPU.
#include "multigrid/cuda/rank_rows.hpp"

#include <utility>

#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_ghosts.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/ranks/border_functors.hpp"
#include "multigrid/refusals.hpp"

namespace trireme::multigrid {
namespace {

struct PackWord {
  const std::uint32_t* values;
  const std::int32_t* rows;
  std::int64_t words;
  std::uint32_t* packed;
  __device__ void operator()(std::int64_t at) const {
    const std::int64_t k = at / words;
    packed[at] = values[rows[k] * words + (at - k * words)];
  }
};

struct IsOutside {
  std::int32_t first, own;
  __device__ bool operator()(std::int32_t number) const {
    return number >= 0 && (number < first || number >= first + own);
  }
};

struct ReachesBeyond {
  CountBelow below;
  __device__ bool operator()(std::int32_t row) const {
    return below(row) < below.row_ptr[row + 1] - below.row_ptr[row];
  }
};

struct ColumnFrom {
  const std::int32_t* columns;
  const std::int32_t* place;  // null: they stay
  __device__ std::int32_t operator()(std::int64_t k) const {
    return place ? place[columns[k]] : columns[k];
  }
};

ScratchBuffer<std::int32_t> upload(std::span<const std::int32_t> from, const CudaPlace& place) {
  auto to = place.array<std::int32_t>(std::ssize(from));
  copy_to_device(from, to.span(), place.stream());
  return to;
}

std::int32_t narrow(std::int64_t number) { return static_cast<std::int32_t>(number); }

}  // namespace

void pack_words(const std::uint32_t* values, DeviceSpan<const std::int32_t> rows,
                std::int64_t words, std::uint32_t* packed, StreamRef stream) {
  CudaPlace(stream).for_each(static_cast<std::int64_t>(rows.size()) * words,
                             PackWord{values, rows.data(), words, packed});
}

DeviceRows joined(const DeviceCsr<double>& local, const CsrView<double>& ghost,
                  std::span<const std::int32_t> place, std::int64_t cols, StreamRef stream) {
  const CudaPlace gpu(stream);
  Uploader uploader;
  const auto of_ghosts = to_device(ghost, uploader, stream);
  const auto places = upload(place, gpu);
  const std::int64_t nnz = local.nnz + std::ssize(ghost.values);
  DeviceRows rows{local.rows, cols, gpu.array<std::int32_t>(local.rows + 1),
                  gpu.array<std::int32_t>(nnz), gpu.array<double>(nnz)};
  fill_zero(rows.row_ptr.span().subspan(0, 1), stream);
  gpu.for_each(local.rows,
               JoinRow{MatrixPointers(local), MatrixPointers(of_ghosts.view()), places.data(),
                       rows.row_ptr.data(), rows.col_idx.data(), rows.values.data()});
  synchronize(stream);
  return rows;
}

DeviceCsr<double> head_of(const DeviceCsr<double>& m, std::int64_t rows, StreamRef stream) {
  const std::int32_t nnz = read_back(m.row_ptr.data() + rows, stream);
  const auto entries = static_cast<std::size_t>(nnz);
  return {rows,
          m.cols,
          nnz,
          m.row_ptr.subspan(0, static_cast<std::size_t>(rows) + 1),
          m.col_idx.subspan(0, entries),
          m.values.empty() ? m.values : m.values.subspan(0, entries)};
}

CsrMatrix<double> rows_on_host(const DeviceCsr<double>& m, std::span<const std::int32_t> rows,
                               StreamRef stream) {
  const CudaPlace place(stream);
  const std::int64_t count = std::ssize(rows);
  const auto wanted = upload(rows, place);
  auto row_ptr = place.array<std::int32_t>(count + 1);
  place.write_each(count, LengthOfRow{m.row_ptr.data(), wanted.data()}, row_ptr.data());
  const std::int64_t nnz = place.sum_exclusively(row_ptr.span());
  check_nonzeros(nnz);
  const auto columns = place.array<std::int32_t>(nnz);
  const auto values = place.array<double>(m.values.empty() ? 0 : nnz);
  place.for_each(count, CopyRowTo{MatrixPointers(m), wanted.data(), row_ptr.data(), columns.data(),
                                  values.data()});
  CsrMatrix<double> copy{count, m.cols, to_host(row_ptr.view(), stream),
                         Array<std::int32_t>(columns.size()), Array<double>(values.size())};
  Uploader uploader;
  uploader.copy_back(columns.view(), std::span(copy.col_idx), stream);
  uploader.copy_back(values.view(), std::span(copy.values), stream);
  return copy;
}

DeviceRows stacked(const DeviceCsr<double>& above, std::span<const std::int32_t> place,
                   const CsrView<double>& below, std::int64_t cols, StreamRef stream) {
  const CudaPlace gpu(stream);
  const std::int64_t rows = above.rows + below.rows;
  const std::int64_t nnz = above.nnz + std::ssize(below.values);
  check_nonzeros(nnz);
  DeviceRows stack{rows, cols, gpu.array<std::int32_t>(rows + 1), gpu.array<std::int32_t>(nnz), {}};
  copy_on_device(above.row_ptr.subspan(0, static_cast<std::size_t>(above.rows)),
                 stack.row_ptr.span(), stream);
  Array<std::int32_t> offsets(below.row_ptr.begin(), below.row_ptr.end());
  for (std::int32_t& offset : offsets) offset += narrow(above.nnz);
  copy_to_device(std::span<const std::int32_t>(offsets),
                 stack.row_ptr.span().subspan(static_cast<std::size_t>(above.rows), offsets.size()),
                 stream);
  const auto places = upload(place, gpu);
  gpu.write_each(above.nnz,
                 ColumnFrom{above.col_idx.data(), place.empty() ? nullptr : places.data()},
                 stack.col_idx.data());
  copy_to_device(
      below.col_idx,
      stack.col_idx.span().subspan(static_cast<std::size_t>(above.nnz), below.col_idx.size()),
      stream);
  stack_values(above, below.values, stack, stream);
  return stack;
}

void stack_values(const DeviceCsr<double>& above, std::span<const double> below, DeviceRows& stack,
                  StreamRef stream) {
  if (stack.values.empty()) stack.values = CudaPlace(stream).array<double>(stack.nnz());
  const auto entries = static_cast<std::size_t>(above.nnz);
  copy_on_device(above.values.subspan(0, entries), stack.values.span(), stream);
  copy_to_device(below, stack.values.span().subspan(entries, below.size()), stream);
  synchronize(stream);
}

DeviceRows columns_below(const DeviceCsr<double>& m, std::int64_t cols, StreamRef stream) {
  const CudaPlace place(stream);
  DeviceRows rows{m.rows, cols, place.array<std::int32_t>(m.rows + 1), {}, {}};
  place.write_each(m.rows, CountBelow{m.row_ptr.data(), m.col_idx.data(), narrow(cols)},
                   rows.row_ptr.data());
  const std::int64_t nnz = place.sum_exclusively(rows.row_ptr.span());
  rows.col_idx = place.array<std::int32_t>(nnz);
  rows.values = place.array<double>(nnz);
  place.for_each(m.rows, CopyBelow{MatrixPointers(m), narrow(cols), rows.row_ptr.data(),
                                   rows.col_idx.data(), rows.values.data()});
  return rows;
}

Array<std::int32_t> rows_beyond(const DeviceCsr<double>& m, std::int64_t cols, StreamRef stream) {
  const auto rows = CudaPlace(stream).select(
      m.rows, ReachesBeyond{{m.row_ptr.data(), m.col_idx.data(), narrow(cols)}});
  return to_host(rows.view(), stream);
}

DeviceRows selection_of(std::int64_t rows, std::int64_t below, std::span<const std::int32_t> first,
                        std::span<const std::int32_t> member, StreamRef stream) {
  const CudaPlace place(stream);
  const std::int64_t nnz = rows + std::ssize(member);
  const auto firsts = upload(first, place), members = upload(member, place);
  DeviceRows ones{rows, rows + below, place.array<std::int32_t>(rows + 1),
                  place.array<std::int32_t>(nnz), place.array<double>(nnz)};
  fill_zero(ones.row_ptr.span().subspan(0, 1), stream);
  place.for_each(rows, SelectRow{firsts.data(), members.data(), narrow(rows), ones.row_ptr.data(),
                                 ones.col_idx.data(), ones.values.data()});
  synchronize(stream);
  return ones;
}

void add_edges_back(DeviceGraph& graph, std::span<const std::int32_t> place,
                    std::span<const std::int32_t> first, std::span<const std::int32_t> of_others,
                    std::int64_t columns, StreamRef stream) {
  const CudaPlace gpu(stream);
  const auto places = upload(place, gpu), firsts = upload(first, gpu),
             others = upload(of_others, gpu);
  const DeviceRows back = transposed_pattern(graph.nodes + std::ssize(place), graph.row_ptr.view(),
                                             graph.neighbour.view(), stream);
  DeviceRows rows = DeviceRowMaker(gpu).make_pattern<1>(
      graph.nodes, columns,
      GatherEdges{graph.row_ptr.data(), graph.neighbour.data(), graph.nodes, places.data(),
                  back.row_ptr.data(), back.col_idx.data(), firsts.data(), others.data()});
  synchronize(stream);
  graph.row_ptr = std::move(rows.row_ptr);
  graph.neighbour = std::move(rows.col_idx);
}

Array<std::int32_t> numbers_outside(DeviceSpan<const std::int32_t> numbers, std::int64_t first,
                                    std::int64_t own, StreamRef stream) {
  const auto found = CudaPlace(stream).select(numbers, IsOutside{narrow(first), narrow(own)});
  return to_host(found.view(), stream);
}

void make_local(DeviceSpan<std::int32_t> numbers, std::int64_t first, std::int64_t own,
                std::span<const std::int32_t> others, StreamRef stream) {
  const CudaPlace place(stream);
  const auto table = upload(others, place);
  place.for_each(static_cast<std::int64_t>(numbers.size()),
                 MakeLocal{narrow(first), narrow(own), table.data(), narrow(std::ssize(others)),
                           numbers.data()});
  synchronize(stream);
}

DeviceRows rows_with_global_columns(const DeviceCsr<double>& from, std::int64_t cols,
                                    std::int64_t first, std::int64_t own,
                                    std::span<const std::int32_t> others, StreamRef stream) {
  const CudaPlace place(stream);
  const auto table = upload(others, place);
  DeviceRows rows{from.rows, cols, place.array<std::int32_t>(from.rows + 1),
                  place.array<std::int32_t>(from.nnz), place.array<double>(from.nnz)};
  copy_on_device(from.row_ptr, rows.row_ptr.span(), stream);
  place.for_each(from.rows, MakeRowGlobal{MatrixPointers(from), narrow(first), narrow(own),
                                          table.data(), rows.col_idx.data(), rows.values.data()});
  synchronize(stream);
  return rows;
}

void make_global(DeviceSpan<std::int32_t> columns, std::int64_t first, std::int64_t own,
                 std::span<const std::int32_t> others, StreamRef stream) {
  const CudaPlace place(stream);
  const auto table = upload(others, place);
  place.for_each(static_cast<std::int64_t>(columns.size()),
                 MakeGlobal{narrow(first), narrow(own), table.data(), columns.data()});
  synchronize(stream);
}

}  // namespace trireme::multigrid
