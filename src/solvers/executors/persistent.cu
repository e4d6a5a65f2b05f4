// SPDX-License-Identifier: BSD-3-Clause
// The persistent kernel, the division of a system among its blocks, and its launch.
#include "solvers/executors/persistent.hpp"

#include <algorithm>
#include <type_traits>

#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "solvers/executors/cluster_exchange.cuh"
#include "solvers/executors/grid_exchange.cuh"
#include "solvers/executors/loop_window.cuh"
#include "solvers/executors/persistent_executor.cuh"

namespace trireme::solvers {
namespace {

// Fewer blocks wait less for each other; the number was measured.
constexpr std::int64_t kMinRowsPerBlock = 512;
constexpr std::int64_t kRowsPerClusterBlock = 256;
constexpr int kMinThreads = 160;
constexpr int kMaxThreads = 512;

// The number of vectors in shared memory: x, the work vectors and the inverse diagonal. That has
// its place also where it is constant, because the values of a later matrix may differ.
template <class Algorithm>
constexpr int kSharedVectors = 1 + Algorithm::pointwise_vectors + 1;

// Raises *fullest to the number of padded entries of the fullest block of rows.
__global__ void count_entries(const std::int32_t* row_ptr, std::int64_t rows,
                              std::int64_t rows_per_block, int* fullest) {
  const std::int64_t first = blockIdx.x * rows_per_block;
  const std::int64_t last = min(rows, first + rows_per_block);
  int entries = 0;
  for (std::int64_t slice = first + threadIdx.x / 32 * 32; slice < last; slice += blockDim.x) {
    const std::int64_t i = slice + threadIdx.x % 32;
    const int length = i < last ? row_ptr[i + 1] - row_ptr[i] : 0;
    const int longest = __reduce_max_sync(kFullWarp, length);
    if (threadIdx.x % 32 == 0) entries += 32 * longest;
  }
  entries = block_sum<256>(entries);
  if (threadIdx.x == 0) atomicMax(fullest, entries);
}

// Whether the architecture that is being compiled for has the instructions of the exchange.
template <class Exchange>
__device__ constexpr bool can_be_compiled() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  return !std::is_same_v<Exchange, ClusterExchange>;
#else
  return true;
#endif
}

template <class Exchange, class WholeSolve>
__global__ void __launch_bounds__(kMaxThreads, 1)
    persistent_kernel(const __grid_constant__ PersistentArguments arguments,
                      const __grid_constant__ WholeSolve solve) {
  if constexpr (can_be_compiled<Exchange>()) {
    extern __shared__ __align__(16) char shared[];
    PersistentExecutor<Exchange, WholeSolve::scalars> e(arguments, shared);
    e.begin();
    solve(e);
    e.end();
  } else {
    __trap();  // plan_cluster() never chooses a cluster on such an architecture
  }
}

// Copies this block's rows of a vector into vector k in shared memory, or sets them to zero if
// `global` is null. Returns vector k.
template <class Executor>
__device__ double* fetch(Executor& e, int k, const double* global) {
  double* const own = e.vector(k);
  for (std::int64_t i = e.first() + threadIdx.x; i < e.last(); i += blockDim.x)
    own[i] = global ? global[i] : 0;
  return own;
}

// Copies this block's rows of a vector in shared memory to global memory.
template <class Executor>
__device__ void store(Executor& e, const double* own, double* global) {
  for (std::int64_t i = e.first() + threadIdx.x; i < e.last(); i += blockDim.x) global[i] = own[i];
}

// The work vectors that leave_direction() starts from: bit k stands for vector k.
template <class Algorithm>
constexpr unsigned left_behind() {
  unsigned bits = 0;
  for (const int k : Algorithm::left_behind) bits |= 1u << k;
  return bits;
}

// The whole solve of a method. The vectors lie in shared memory in the order x, work vectors,
// inverse diagonal.
template <class Algorithm>
struct Solve {
  static constexpr int scalars = Algorithm::scalars;

  SystemVectors global;
  WorkMemory work;
  Jacobi m;

  template <class Executor>
  __device__ void operator()(Executor& e) const {
    SystemVectors vectors = global;
    vectors.x = fetch(e, 0, global.zero_guess ? nullptr : global.x);
    Jacobi own = m;
    if (m.inverse_diagonal.values)
      own.inverse_diagonal.values =
          fetch(e, 1 + Algorithm::pointwise_vectors, m.inverse_diagonal.values);
    const Algorithm algorithm = Algorithm::with(vectors, [&e](int k) {
      return k < Algorithm::pointwise_vectors ? e.vector(1 + k) : nullptr;
    });
    __syncthreads();
    run_solve(e, algorithm, own);
    __syncthreads();
    store(e, vectors.x, global.x);
    if (!e.can_go_on()) return;
    constexpr unsigned left = left_behind<Algorithm>();
    for (int k = 0; k < Algorithm::pointwise_vectors; ++k)
      if (left >> k & 1u) store(e, e.vector(1 + k), work(k));
  }
};

// The scratch of a launch has three parts: PersistentArguments::arrivals, alone in these bytes so
// that it shares no cache line; partials; twins.
constexpr std::size_t kArrivalsBytes = 256;

// The number of partial sums.
std::size_t partial_sums(int blocks) { return std::size_t{2} * kMaxExchanged * blocks; }

template <class Algorithm>
const void* kernel_of(bool cluster) {
  return cluster
             ? reinterpret_cast<const void*>(persistent_kernel<ClusterExchange, Solve<Algorithm>>)
             : reinterpret_cast<const void*>(persistent_kernel<GridExchange, Solve<Algorithm>>);
}

// What cudaLaunchKernelExC() needs. `launch` refers to `attribute`, so the struct is not copied.
struct Configuration {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t launch{};

  Configuration(const PersistentShape& shape, StreamRef stream) {
    if (shape.cluster) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {static_cast<unsigned>(shape.blocks), 1, 1};
    } else {
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    }
    launch.gridDim = dim3(shape.blocks);
    launch.blockDim = dim3(shape.threads);
    launch.dynamicSmemBytes = shape.shared_bytes;
    launch.stream = stream;
    launch.attrs = &attribute;
    launch.numAttrs = 1;
  }
};

template <class Algorithm>
void launch(Solve<Algorithm> solve, const State& initial, const DeviceCsr<double>& csr,
            const PersistentShape& shape, LoopWindow& window, void* scratch, StreamRef stream) {
  auto* const partials = reinterpret_cast<double*>(static_cast<char*>(scratch) + kArrivalsBytes);
  PersistentArguments arguments{csr.rows,
                                shape.rows_per_block,
                                shape.entries,
                                kSharedVectors<Algorithm>,
                                csr.row_ptr.data(),
                                csr.col_idx.data(),
                                csr.values.data(),
                                initial,
                                window.control(),
                                window.history(),
                                window.result(),
                                window.next_serial(),
                                static_cast<unsigned*>(scratch),
                                partials,
                                partials + partial_sums(shape.blocks)};
  void* parameters[] = {&arguments, &solve};
  const Configuration configuration(shape, stream);
  cuda_check(
      cudaLaunchKernelExC(&configuration.launch, kernel_of<Algorithm>(shape.cluster), parameters));
}

// Completes `shape`, whose rows_per_block and cluster are given. blocks remains 0 if a block needs
// more shared memory than the kernel may have.
PersistentShape fill_in(PersistentShape shape, const DeviceCsr<double>& csr, int vectors,
                        const void* kernel, const DeviceProperties& gpu, StreamRef stream) {
  shape.blocks = 0;
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel));
  const std::size_t limit = gpu.shared_memory_per_block - attributes.sharedSizeBytes;
  const std::size_t fixed =
      shape.rows_per_block * (vectors * sizeof(double) + sizeof(std::int32_t)) +
      (shape.rows_per_block / 32 + 2) * sizeof(std::int32_t);
  constexpr std::size_t entry_bytes = sizeof(double) + sizeof(std::int32_t);
  const std::int64_t blocks = (csr.rows + shape.rows_per_block - 1) / shape.rows_per_block;
  if (fixed + csr.nnz / blocks * entry_bytes > limit) return shape;

  const ScratchBuffer<int> fullest(1, stream);
  fill_zero(fullest.span(), stream);
  count_entries<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(
      csr.row_ptr.data(), csr.rows, shape.rows_per_block, fullest.data());
  check_launch();
  shape.entries = read_back(fullest.data(), stream);
  shape.shared_bytes = fixed + shape.entries * entry_bytes;
  if (shape.shared_bytes > limit) return shape;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(limit)));
  const std::int64_t rounds = (shape.rows_per_block + kMaxThreads - 1) / kMaxThreads;
  const std::int64_t threads = (shape.rows_per_block + rounds - 1) / rounds;
  shape.threads = static_cast<int>(
      std::clamp<std::int64_t>((threads + 31) / 32 * 32, kMinThreads, kMaxThreads));
  shape.blocks = static_cast<int>(blocks);
  return shape;
}

// Calls visit(entry) where the kernel runs the method.
template <class Visit>
void visit_if_in_one_kernel(Method method, Variant variant, const Visit& visit) {
  visit_method(method, variant, [&](auto entry) {
    if constexpr (kRunsInOneKernel<typename decltype(entry)::type>) visit(entry);
  });
}

PersistentShape plan_cluster(const DeviceCsr<double>& csr, int vectors, const void* kernel,
                             const DeviceProperties& gpu, StreamRef stream) {
  PersistentShape shape;
  shape.cluster = true;
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel));
  if (gpu.compute_major < 9 || attributes.ptxVersion < 90) return shape;
  int blocks = 1;
  while (blocks < kMaxClusterBlocks && csr.rows > blocks * kRowsPerClusterBlock) blocks *= 2;
  shape.rows_per_block = ((csr.rows + blocks - 1) / blocks + 1) / 2 * 2;
  shape = fill_in(shape, csr, vectors, kernel, gpu, stream);
  if (shape.blocks == 0) return shape;
  shape.blocks = blocks;  // a power of two, so that the last blocks may have no rows
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  int at_once = 0;
  const Configuration configuration(shape, stream);
  if (cudaOccupancyMaxActiveClusters(&at_once, kernel, &configuration.launch) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    at_once = 0;
  }
  if (at_once == 0) shape.blocks = 0;
  return shape;
}

// Whether the entries and vectors without any padding fit into the shared memory of all
// multiprocessors. To ask this first spares large systems the time in which CUDA loads a persistent
// kernel.
bool fits_at_best(const DeviceCsr<double>& csr, int vectors, const DeviceProperties& gpu) {
  constexpr std::int64_t entry_bytes = sizeof(double) + sizeof(std::int32_t);
  const std::int64_t row_bytes =
      vectors * std::int64_t{sizeof(double)} + std::int64_t{sizeof(std::int32_t)};
  return csr.nnz * entry_bytes + csr.rows * row_bytes <=
         static_cast<std::int64_t>(gpu.shared_memory_per_block) * gpu.multiprocessors;
}

}  // namespace

PersistentShape plan_persistent(const DeviceCsr<double>& csr, Method method, Variant variant,
                                bool through_l2, StreamRef stream) {
  PersistentShape shape;
  if (csr.rows == 0 || csr.rows != csr.cols) return shape;
  const DeviceProperties gpu = device_properties();
  if (!gpu.cooperative_launch || gpu.compute_major < 8) return shape;
  visit_if_in_one_kernel(method, variant, [&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    constexpr int vectors = kSharedVectors<Algorithm>;
    if (!fits_at_best(csr, vectors, gpu)) return;
    if (!through_l2) {
      shape = plan_cluster(csr, vectors, kernel_of<Algorithm>(true), gpu, stream);
      if (shape.blocks > 0) return;
      shape = {};
    }
    const std::int64_t max_blocks = std::min(gpu.multiprocessors, kMaxPersistentBlocks);
    shape.rows_per_block = std::max((csr.rows + max_blocks - 1) / max_blocks, kMinRowsPerBlock);
    shape.rows_per_block = (shape.rows_per_block + 1) / 2 * 2;
    shape = fill_in(shape, csr, vectors, kernel_of<Algorithm>(false), gpu, stream);
  });
  return shape;
}

std::size_t persistent_scratch_bytes(const PersistentShape& shape, std::int64_t rows) {
  return kArrivalsBytes + (partial_sums(shape.blocks) + 2 * rows) * sizeof(double);
}

void launch_persistent(Method method, Variant variant, const SystemVectors& vectors,
                       const WorkMemory& work, const Jacobi& m, const State& initial,
                       const DeviceCsr<double>& csr, const PersistentShape& shape,
                       LoopWindow& window, void* scratch, StreamRef stream) {
  visit_if_in_one_kernel(method, variant, [&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    launch(Solve<Algorithm>{vectors, work, m}, initial, csr, shape, window, scratch, stream);
  });
}

}  // namespace trireme::solvers
