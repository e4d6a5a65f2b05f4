// SPDX-License-Identifier: BSD-3-Clause
// Reads pointers in pieces of bounded size.
#include "io/read_checks.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/stopwatch.hpp"
#include "io/canonical_rows.hpp"
#include "io/require_memory.hpp"
#include "io/row_cuts.hpp"
#include "parallel/collective.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kPointersPerRead = 1 << 17;  // 1 MiB

bool ascends(std::span<const std::int32_t> numbers) {
  bool good = true;
#pragma omp parallel for schedule(static) reduction(&& : good)
  for (std::size_t i = 1; i < numbers.size(); ++i) good = good && numbers[i - 1] <= numbers[i];
  return good;
}

}  // namespace

void scan_pointers(const StoredMatrix& stored, std::int64_t first, std::int64_t last,
                   const std::function<void(std::int64_t, std::span<const std::int64_t>)>& take) {
  const hdf5::Dataset& pointers = stored.pointers;
  const std::int64_t end = stored.pointer_count() - 1;
  Array<std::int64_t> block(std::min(kPointersPerRead, last - first + 1));
  std::int64_t previous = 0;
  for (std::int64_t at = first; at <= last; at += kPointersPerRead) {
    const std::int64_t count = std::min(kPointersPerRead, last + 1 - at);
    pointers.read(at, count, block.data());
    for (std::int64_t i = 0; i < count; ++i) {
      if (block[i] < previous)
        fail(ExitCode::input, "{}[{}] = {} comes after {}; pointers must not decrease",
             pointers.name(), at + i, block[i], previous);
      previous = block[i];
    }
    if (at == 0 && block[0] != 0)
      fail(ExitCode::input, "{}[0] = {}; pointers must start at 0", pointers.name(), block[0]);
    if (at + count - 1 == end && previous != stored.nnz)
      fail(ExitCode::input, "{}[{}] = {}, but there are {} nonzeros; the last pointer must be that",
           pointers.name(), end, previous, stored.nnz);
    if (previous > stored.nnz)
      fail(ExitCode::input, "{} reaches {}, but there are only {} nonzeros", pointers.name(),
           previous, stored.nnz);
    take(at, std::span<const std::int64_t>(block.data(), count));
  }
}

EntryRange read_row_ptr(const StoredMatrix& stored, std::int64_t first, CsrMatrix<double>& local) {
  const std::int64_t rows = local.rows, last = first + rows;
  const auto pointer = [&](std::int64_t row) {
    std::int64_t value = 0;
    stored.pointers.read(first + row, 1, &value);
    return value;
  };
  const std::int64_t from = pointer(0), to = pointer(rows);
  std::atomic<bool> good = 0 <= from && from <= to && to <= stored.nnz &&
                           (first > 0 || from == 0) &&
                           (last + 1 < stored.pointer_count() || to == stored.nnz);
  if (good) {
    if (to - from > stored.most_of_block)
      local.cuts = cut_rows_into_blocks(rows, stored.most_of_block, stored.name, pointer);
    // Each block begins with the pointer at which the block before it ends.
    std::vector<std::int64_t> begins{from};
    for (const std::int64_t cut : local.cuts) begins.push_back(pointer(cut));
    local.row_ptr.resize(rows + 1 + local.cuts.size());
    stored.pointers.stream<std::int64_t>(
        first, rows + 1, [&](std::int64_t at, std::span<const std::int64_t> pointers) {
          bool within = true;
          std::size_t block = std::ranges::lower_bound(local.cuts, at) - local.cuts.begin();
          for (std::size_t i = 0; i < pointers.size(); ++i) {
            const auto row = at + static_cast<std::int64_t>(i);
            within &= from <= pointers[i] && pointers[i] <= to;
            local.row_ptr[row + block] = static_cast<std::int32_t>(pointers[i] - begins[block]);
            if (block == local.cuts.size() || row != local.cuts[block]) continue;
            ++block;
            local.row_ptr[row + block] = 0;
          }
          if (!within) good = false;
        });
    for (std::size_t block = 0; block < begins.size(); ++block) {
      const std::int64_t begin = block == 0 ? 0 : local.cuts[block - 1];
      const std::int64_t end = block == local.cuts.size() ? rows : local.cuts[block];
      if (!ascends(std::span(local.row_ptr).subspan(begin + block, end - begin + 1))) good = false;
    }
  }
  if (!good) {  // The scan knows the first fault by its place.
    scan_pointers(stored, first, last, [](std::int64_t, std::span<const std::int64_t>) {});
    fail(ExitCode::input, "{} changed while it was read", stored.pointers.name());
  }
  return {from, to - from};
}

std::vector<std::int64_t> balanced_starts(MPI_Comm comm, const StoredMatrix& stored) {
  const int rank = rank_of(comm);
  const int ranks = size_of(comm);
  const std::int64_t count = stored.pointer_count() - 1;
  if (ranks == 1) return {0, count};  // whoever reads the pointers checks them
  RowCuts cuts(count, stored.nnz, ranks, stored.rows_together);
  collectively(comm, [&] {
    scan_pointers(stored, even_share(count, ranks, rank), even_share(count, ranks, rank + 1),
                  [&](std::int64_t first, std::span<const std::int64_t> pointers) {
                    for (std::size_t i = 0; i < pointers.size(); ++i)
                      cuts.boundary(first + static_cast<std::int64_t>(i), pointers[i]);
                  });
  });
  return std::move(cuts).agree(comm);
}

void check_indices(const StoredMatrix& stored, std::int64_t first_entry,
                   std::span<const std::int32_t> indices) {
  if (const auto bad = first_out_of_range(indices, stored.index_bound()))
    fail_out_of_range(stored, first_entry + *bad);
}

void fail_out_of_range(const StoredMatrix& stored, std::int64_t position) {
  std::int64_t in_file = 0;  // the arrays hold it clipped to 32 bits
  stored.indices.read(position, 1, &in_file);
  fail(ExitCode::input, "{}[{}] = {} is out of range: the matrix has {} {}, counted from 0",
       stored.indices.name(), position, in_file, stored.index_bound(),
       stored.by == Compressed::rows ? "columns" : "rows");
}

bool finish_rows(MPI_Comm comm, MatrixOnRanks& matrix) {
  const Stopwatch watch;
  std::int64_t counts[3] = {0, 0, 0};
  collectively(comm, [&] {
    const CanonicalRows found = make_rows_canonical(matrix.slab);
    counts[0] = found.summed;
    counts[1] = matrix.slab.local.nnz();
    counts[2] = found.were_in_order ? 0 : 1;
  });
  MPI_Allreduce(MPI_IN_PLACE, counts, 3, MPI_INT64_T, MPI_SUM, comm);
  matrix.duplicates_summed = counts[0];
  matrix.slab.global_nnz = counts[1];
  matrix.check_seconds = watch.seconds();
  return counts[2] == 0;
}

MatrixOnRanks read_matrix(MPI_Comm comm, const StoredMatrix& stored, EntriesSink* sink) {
  require_memory(comm, stored.name,
                 csr_bytes(static_cast<double>(stored.rows), static_cast<double>(stored.nnz)));
  return stored.by == Compressed::rows ? read_csr(comm, stored, sink) : read_csc(comm, stored);
}

}  // namespace trireme
