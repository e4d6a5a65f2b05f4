// SPDX-License-Identifier: BSD-3-Clause
// Makes sparse matrices on a GPU from the functors of make_rows.hpp, in three steps: count the
// columns of each row, write them in ascending order, add up the numbers. New numbers repeat the
// last step only.
//
// While columns are counted and written, rows have classes, by F::terms(i) at first:
//
//   0   a thread                 a sorted list in shared memory, of kListPlaces columns
//   1   8 lanes                  a table in shared memory, of kFewPlaces
//   2   a warp                   a table in shared memory, of kMorePlaces
//   3   a warp                   a table that fills the shared memory of a block, of kManyPlaces
//   4   a block                  one bit per column of the matrix in global memory
//
// A row whose columns exceed its table goes on to the next class. Numbers are added up in registers
// where a row has few columns, in shared memory where it has more, and in global memory otherwise.
// The sets do not depend on the order in which lanes come, the columns are sorted, and each number
// is a sum in the order of the functor: every run gives the same bits, which are those of the host.
//
// Bytes moved by a product C = A B, times the nonzeros of A, with b = nnz per row of B: 12 + 8 for
// the entry and the row of B that it names, and 12 b (4 b in the first two steps) for that row,
// mostly from the L2 cache; and 12 per nonzero of C once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_csr_rows.hpp"
#include "multigrid/cuda/row_pattern_kernels.cuh"
#include "multigrid/cuda/row_sum_kernels.cuh"
#include "multigrid/refusals.hpp"

namespace trireme::multigrid {

// Makes and refills matrices in the stream of a place.
class DeviceRowMaker {
 public:
  explicit DeviceRowMaker(const CudaPlace& place);

  // The pattern of the matrix of `rows` x `cols` whose row i is what f(i, sums) adds up; cols is a
  // multiple of kWidth. Columns ascend. Throws Error{resource} for more than 2^31-1 nonzeros.
  template <int kWidth, class F>
  DeviceRows make_pattern(std::int64_t rows, std::int64_t cols, const F& f) const;

  // Writes the values of a matrix of the pattern that make_pattern() made with f.
  template <int kWidth, class F>
  void fill(DeviceRows& matrix, const F& f) const;

  template <int kWidth, class F>
  DeviceRows make(std::int64_t rows, std::int64_t cols, const F& f) const {
    DeviceRows matrix = make_pattern<kWidth>(rows, cols, f);
    matrix.values = place_.array<double>(matrix.nnz());
    fill<kWidth>(matrix, f);
    return matrix;
  }

 private:
  // Owns lists of up to `rows` rows each.
  struct Lists {
    ScratchBuffer<std::int32_t> rows[row_kernels::kLists], sizes;
    ScratchBuffer<std::uint8_t> classes;
    row_kernels::RowLists view() const {
      return {{rows[0].data(), rows[1].data(), rows[2].data(), rows[3].data()},
              sizes.data(),
              classes.data()};
    }
  };
  Lists make_lists(std::int64_t rows, int count) const;
  Lists lists_of(const DeviceRows& matrix, std::int32_t width, row_kernels::SumLimits limits) const;

  template <int kWidth, bool kWrites, class F>
  void run_classes(std::int64_t rows, std::int64_t cols, const F& f, const Lists& lists,
                   std::int32_t* counts, const std::int32_t* row_ptr, std::int32_t* col_idx) const;

  static unsigned blocks_for(std::int64_t threads, int of_block) {
    return static_cast<unsigned>((threads + of_block - 1) / of_block);
  }

  CudaPlace place_;
  unsigned multiprocessors_;
};

template <int kWidth, bool kWrites, class F>
void DeviceRowMaker::run_classes(std::int64_t rows, std::int64_t cols, const F& f,
                                 const Lists& lists, std::int32_t* counts,
                                 const std::int32_t* row_ptr, std::int32_t* col_idx) const {
  using namespace row_kernels;
  const StreamRef stream = place_.stream();
  const RowLists view = lists.view();
  thread_rows<kWidth, kWrites><<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(
      rows, f, limits_for(rows), view, counts, row_ptr, col_idx);
  check_launch();
  constexpr int kBytes = 4;
  listed_rows<kWidth, 8, kFewPlaces, kWrites>
      <<<multiprocessors_ * 16, kThreads, kThreads / 8 * table_pitch(kFewPlaces) * kBytes,
         stream>>>(0, view, f, counts, row_ptr, col_idx);
  check_launch();
  listed_rows<kWidth, 32, kMorePlaces, kWrites>
      <<<multiprocessors_ * 16, kThreads, kThreads / 32 * table_pitch(kMorePlaces) * kBytes,
         stream>>>(1, view, f, counts, row_ptr, col_idx);
  check_launch();
  listed_rows<kWidth, 32, kManyPlaces, kWrites>
      <<<multiprocessors_ * 6, 32, table_pitch(kManyPlaces) * kBytes, stream>>>(2, view, f, counts,
                                                                                row_ptr, col_idx);
  check_launch();
  const std::int64_t words = (cols / kWidth + 31) / 32;
  const unsigned blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>((64 << 20) / (4 * words + 1), 1, 64));
  const ScratchBuffer<std::uint32_t> bits = place_.array<std::uint32_t>(words * blocks);
  fill_zero(bits.span(), stream);
  long_rows<kWidth, kWrites><<<blocks, kBitmapThreads, 0, stream>>>(view, f, words, bits.data(),
                                                                    counts, row_ptr, col_idx);
  check_launch();
}

template <int kWidth, class F>
DeviceRows DeviceRowMaker::make_pattern(std::int64_t rows, std::int64_t cols, const F& f) const {
  using namespace row_kernels;
  const StreamRef stream = place_.stream();
  DeviceRows matrix{rows, cols, place_.array<std::int32_t>(rows + 1), {}, {}};
  std::int32_t* const row_ptr = matrix.row_ptr.data();
  const Lists lists = make_lists(rows, kLists);
  if (rows > 0) run_classes<kWidth, false>(rows, cols, f, lists, row_ptr, nullptr, nullptr);
  const std::int64_t nnz = place_.sum_exclusively(matrix.row_ptr.span());
  check_nonzeros(nnz);
  matrix.col_idx = place_.array<std::int32_t>(nnz);
  if (nnz > 0)
    run_classes<kWidth, true>(rows, cols, f, lists, nullptr, row_ptr, matrix.col_idx.data());
  return matrix;
}

template <int kWidth, class F>
void DeviceRowMaker::fill(DeviceRows& matrix, const F& f) const {
  using namespace row_kernels;
  if (matrix.nnz() == 0) return;
  const StreamRef stream = place_.stream();
  const std::int32_t* const row_ptr = matrix.row_ptr.data();
  const std::int32_t* const col_idx = matrix.col_idx.data();
  double* const values = matrix.values.data();
  bool by_owners = false;
  if constexpr (F::kOwners) by_owners = f.by_owners();
  constexpr std::int32_t kFew = kFewSums<kWidth>;
  const SumLimits limits = by_owners ? SumLimits{{kShortSums, kOwnedSums, kMoreSums}}
                                     : SumLimits{{kFew, kFew, kWidth == 1 ? kMoreSums : kFew}};
  const Lists lists = lists_of(matrix, kWidth, limits);
  const RowLists view = lists.view();
  if constexpr (F::kOwners) {
    if (by_owners) {
      short_sums<<<blocks_for(matrix.rows * kSumLanes, kThreads), kThreads, 0, stream>>>(
          matrix.rows, f, row_ptr, col_idx, values);
      check_launch();
      owned_sums<<<multiprocessors_ * 16, kThreads, 0, stream>>>(view, f, row_ptr, col_idx, values);
      check_launch();
    }
  }
  if (!by_owners) {
    few_sums<kWidth><<<blocks_for(matrix.rows * kSumLanes, kThreads), kThreads, 0, stream>>>(
        matrix.rows, f, row_ptr, col_idx, values);
    check_launch();
  }
  if constexpr (kWidth == 1) {
    more_sums<<<multiprocessors_ * 9, kThreads, 0, stream>>>(view, f, row_ptr, col_idx, values);
    check_launch();
  }
  listed_sums<kWidth>
      <<<multiprocessors_ * 8, kThreads, 0, stream>>>(view, f, row_ptr, col_idx, values);
  check_launch();
}

}  // namespace trireme::multigrid
