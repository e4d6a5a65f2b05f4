// SPDX-License-Identifier: BSD-3-Clause
// One kernel does all steps. A block keeps every 16th or 8th row in its shared memory, and rows and
// columns stay where they are: tables tell their places in the order of the pivots. In each step
//
//   - every block offers the largest entry of its rows, and the cluster meets,
//   - every block reads the offers and the pivot row, and scales a copy of that row,
//   - every warp subtracts a multiple of the copy from rows of its own, and finds their largest entries.
//
// The block of the pivot row replaces it by the scaled copy after the next meeting, when all blocks have
// read it. The pivots, their order among equal ones and the numbers are those of dense_inverse.cpp.
#include "multigrid/cuda/cluster_elimination.cuh"

#include <cooperative_groups.h>

#include "device/check.hpp"
#include "multigrid/dense_inverse.hpp"

namespace trireme::multigrid {
namespace {

namespace cg = cooperative_groups;

constexpr int kThreads = 1024;
constexpr int kFirstMajor = 9;  // of the compute capability, that has clusters

// The largest entry that has been seen, of equal ones the first by `order`.
struct Candidate {
  double size;
  int order;

  __device__ bool before(const Candidate& other) const {
    return size > other.size || (size == other.size && order < other.order);
  }
};

[[maybe_unused]] __device__ Candidate best_of_warp(Candidate mine) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const Candidate other{__shfl_xor_sync(0xffffffffu, mine.size, distance),
                          __shfl_xor_sync(0xffffffffu, mine.order, distance)};
    if (other.before(mine)) mine = other;
  }
  return mine;
}

// The best entry of a block's rows; `order` is the place of its row.
struct Offer {
  Candidate entry;
  int col;
};

// The arrays of a block in shared memory. `place` is by row or column, and `at` by place.
struct Block {
  double* entries;  // row by row
  double* line[2];  // scaled pivot rows of the last two steps
  double* size;     // of the largest entry of each own row behind the pivots
  int* order;       // of its column: -1 for the diagonal, or its place
  int *row_place, *row_at, *col_place, *col_at;
  Offer* offers;  // two, of this step and of the last one

  __device__ Block(char* memory, int n, int own) {
    double* numbers = reinterpret_cast<double*>(memory);
    entries = numbers;
    line[0] = entries + own * n;
    line[1] = line[0] + n;
    size = line[1] + n;
    offers = reinterpret_cast<Offer*>(size + own);
    row_place = reinterpret_cast<int*>(offers + 2);
    row_at = row_place + n;
    col_place = row_at + n;
    col_at = col_place + n;
    order = col_at + n;
  }
  static std::size_t bytes(std::int64_t n, std::int64_t own) {
    return static_cast<std::size_t>((own + 2) * n + own) * sizeof(double) + 2 * sizeof(Offer) +
           static_cast<std::size_t>(4 * n + own) * sizeof(int);
  }
};

[[maybe_unused]] __device__ void exchange(int* place, int* at, int k, int item) {
  const int other = at[k], from = place[item];
  at[k] = item;
  place[item] = k;
  at[from] = other;
  if (other != item) place[other] = from;
}

// Notes the largest entry of own row `slot` behind the pivots. All lanes of a warp call it.
[[maybe_unused]] __device__ void note_largest(const Block& m, int slot, Candidate mine, int lane) {
  mine = best_of_warp(mine);
  if (lane > 0) return;
  m.size[slot] = mine.size;
  m.order[slot] = mine.order;
}

// The best entry of the own rows behind `k` pivots, by one warp.
template <int kBlocks>
__device__ Offer best_of_rows(const Block& m, int n, int own, int k, int rank, int lane) {
  Candidate mine{-1, INT32_MAX};
  for (int slot = lane; slot < own; slot += 32) {
    const int row = rank + slot * kBlocks;
    if (row >= n || m.row_place[row] < k) continue;
    const Candidate other{m.size[slot], m.row_place[row]};
    if (other.before(mine)) mine = other;
  }
  mine = best_of_warp(mine);
  if (mine.size < 0) return {mine, 0};
  const int row = m.row_at[mine.order], order = m.order[row / kBlocks];
  return {mine, order < 0 ? m.col_at[mine.order] : m.col_at[order]};
}

template <int kBlocks>
__global__ void __launch_bounds__(kThreads)
    run_elimination(int n, double* values, std::int64_t* rows, std::int64_t* cols,
                    EliminationOutcome* outcome) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ char memory[];
  constexpr int kWarps = kThreads / 32;
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank()), own = (n + kBlocks - 1) / kBlocks;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const Block m(memory, n, own);
  for (int j = thread; j < n; j += kThreads)
    m.row_place[j] = m.row_at[j] = m.col_place[j] = m.col_at[j] = j;
  for (int slot = warp; slot < own; slot += kWarps) {
    const int row = rank + slot * kBlocks;
    if (row >= n) continue;
    Candidate mine{-1, INT32_MAX};
    for (int j = lane; j < n; j += 32) {
      const double value = values[static_cast<std::int64_t>(row) * n + j];
      m.entries[slot * n + j] = value;
      const Candidate other{std::abs(value), j == row ? -1 : j};
      if (other.before(mine)) mine = other;
    }
    note_largest(m, slot, mine, lane);
  }
  double least = 0;
  int k = 0, last_pivot = -1;
  for (; k < n; ++k) {
    __syncthreads();
    const int turn = k % 2;
    if (warp == 0) {
      const Offer best = best_of_rows<kBlocks>(m, n, own, k, rank, lane);
      if (lane == 0) m.offers[turn] = best;
    }
    cluster.sync();
    Offer offer{{-1, INT32_MAX}, 0};
    if (lane < kBlocks) offer = *cluster.map_shared_rank(m.offers + turn, lane);
    const Candidate best = best_of_warp(offer.entry);
    if (k == 0) least = best.size * kZeroPivot * static_cast<double>(n);
    if (!(best.size > least)) break;
    const int row = m.row_at[best.order], owner = row % kBlocks;
    const int col = __shfl_sync(0xffffffffu, offer.col, owner);
    const double* const pivot_row = cluster.map_shared_rank(m.entries + row / kBlocks * n, owner);
    const double inverse = 1 / pivot_row[col];
    for (int j = thread; j < n; j += kThreads)
      m.line[turn][j] = (j == col ? 1 : pivot_row[j]) * inverse;
    __syncthreads();
    if (thread == 0) {
      exchange(m.row_place, m.row_at, k, row);
      exchange(m.col_place, m.col_at, k, col);
    }
    __syncthreads();
    for (int slot = warp; slot < own; slot += kWarps) {
      const int i = rank + slot * kBlocks;
      if (i >= n || i == row) continue;
      double* const entries = m.entries + slot * n;
      const double* const from = i == last_pivot ? m.line[1 - turn] : entries;
      const double* const line = m.line[turn];
      const double factor = from[col];
      const int place = m.row_place[i];
      __syncwarp();
      Candidate mine{-1, INT32_MAX};
      for (int j = lane; j < n; j += 32) {
        const double value = (j == col ? 0 : from[j]) - factor * line[j];
        entries[j] = value;
        const int order = m.col_place[j];
        const Candidate other{std::abs(value), order == place ? -1 : order};
        if (order > k && other.before(mine)) mine = other;
      }
      if (place > k) note_largest(m, slot, mine, lane);
    }
    last_pivot = row;
  }
  for (int slot = warp; slot < own; slot += kWarps) {
    const int i = rank + slot * kBlocks;
    if (i >= n) continue;
    const double* const from = i == last_pivot ? m.line[(k + 1) % 2] : m.entries + slot * n;
    for (int j = lane; j < n; j += 32)
      values[static_cast<std::int64_t>(m.row_place[i]) * n + m.col_place[j]] = from[j];
  }
  if (rank == 0) {
    for (int j = thread; j < n; j += kThreads) {
      rows[j] = m.row_at[j];
      cols[j] = m.col_at[j];
    }
    if (thread == 0) outcome->rank = k;
  }
  cluster.sync();  // No block leaves while others read its offer.
#endif
}

int attribute_of_device(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  cuda_check(cudaGetDevice(&device));
  cuda_check(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

// False where no cluster of kBlocks thread blocks can run.
template <int kBlocks>
bool run(std::int64_t n, double* values, std::int64_t* rows, std::int64_t* cols,
         EliminationOutcome* outcome, StreamRef stream) {
  const std::size_t bytes = Block::bytes(n, (n + kBlocks - 1) / kBlocks);
  const int most = attribute_of_device(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (bytes > static_cast<std::size_t>(most)) return false;
  const auto kernel = run_elimination<kBlocks>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = kBlocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(kBlocks);
  launch.blockDim = dim3(kThreads);
  launch.dynamicSmemBytes = bytes;
  launch.stream = stream;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  int clusters = 0;
  cuda_check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch));
  if (clusters == 0) return false;
  cuda_check(cudaLaunchKernelEx(&launch, kernel, static_cast<int>(n), values, rows, cols, outcome));
  return true;
}

}  // namespace

bool eliminate_in_cluster(std::int64_t n, double* values, std::int64_t* rows, std::int64_t* cols,
                          EliminationOutcome* outcome, StreamRef stream) {
  if (attribute_of_device(cudaDevAttrComputeCapabilityMajor) < kFirstMajor) return false;
  return run<16>(n, values, rows, cols, outcome, stream) ||
         run<8>(n, values, rows, cols, outcome, stream);
}

}  // namespace trireme::multigrid
