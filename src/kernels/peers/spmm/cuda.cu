// SPDX-License-Identifier: BSD-3-Clause
// The executor of the seven products on CUDA: kTile vectors per launch, in the split of each
// product (split.hpp). The result is deterministic.
//
// Bytes moved (double): those of the walks in row_balanced.hpp and nonzero_balanced.hpp.
#include <algorithm>
#include <type_traits>

#include "base/stopwatch.hpp"
#include "device/check.hpp"
#include "kernels/peers/spmm/nonzero_balanced.cuh"
#include "kernels/peers/spmm/row_balanced.cuh"
#include "kernels/peers/spmm/rule.hpp"
#include "kernels/peers/spmm/spmm.hpp"

namespace trireme {
namespace {

using spmm::DeviceTile;
using spmm::kLanes;
using spmm::kThreads;
using spmm::kTile;

// Calls launch(c) with the smallest power of two c, as a constant, that is at least `width`.
template <class Launch>
void with_vectors(int width, Launch&& launch) {
  if (width <= 1) return launch(std::integral_constant<int, 1>{});
  if (width <= 2) return launch(std::integral_constant<int, 2>{});
  if (width <= 4) return launch(std::integral_constant<int, 4>{});
  if (width <= 8) return launch(std::integral_constant<int, 8>{});
  if (width <= 16) return launch(std::integral_constant<int, 16>{});
  return launch(std::integral_constant<int, 32>{});
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

// More than 48 KiB of shared memory per block must be asked for.
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  if (bytes > 48 * 1024)
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
}

template <class Value>
class SpmmCuda final : public CudaKernel<Value> {
 public:
  SpmmCuda(SpmmSplit split, const DeviceCsr<Value>& matrix, StreamRef stream)
      : split_(split), a_(matrix) {
    std::int64_t block = spmm::block_size(split);
    if (split == SpmmSplit::by_rule) {
      const Stopwatch watch;
      uneven_ = spmm::uneven_rows(to_host(a_.row_ptr, stream));
      steps_ = {{"classify rows", watch.seconds()}};
      if (uneven_) block = spmm::kPerBlockOfWarps;  // the smallest ones, which need most carries
    }
    if (block > 0) carries_ = DeviceBuffer<Value>(kTile * spmm::block_count(a_.nnz, block), stream);
    synchronize(stream);
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    multi_multiply({x.data(), a_.cols, 1}, {y.data(), a_.rows, 1}, accumulate, stream);
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(DeviceMultiVector<const Value> x, DeviceMultiVector<Value> y,
                      Accumulate accumulate, StreamRef stream) override {
    if (a_.rows == 0) return;
    const SpmmSplit split =
        split_ == SpmmSplit::by_rule ? spmm::choose_split(x.width, uneven_) : split_;
    for (std::int64_t first = 0; first < x.width; first += kTile) {
      const auto count = static_cast<int>(std::min<std::int64_t>(kTile, x.width - first));
      const DeviceTile<Value> tile{.rows = a_.rows,
                                   .nnz = a_.nnz,
                                   .row_ptr = a_.row_ptr.data(),
                                   .col_idx = a_.col_idx.data(),
                                   .values = a_.values.data(),
                                   .x = x.data + first,
                                   .x_stride = x.row_stride,
                                   .y = y.data + first,
                                   .y_stride = y.row_stride,
                                   .width = count,
                                   .add = accumulate == Accumulate::yes};
      if (spmm::block_size(split) == 0)
        share_rows(split, tile, stream);
      else
        share_nonzeros(split, tile, stream);
    }
  }

  void update_values(DeviceSpan<const Value> values, StreamRef) override { a_.values = values; }

  KernelStatistics statistics() const override {
    return {
        .stored_bytes = static_cast<std::int64_t>(a_.nnz * (sizeof(Value) + sizeof(std::int32_t)) +
                                                  (a_.rows + 1) * sizeof(std::int32_t)),
        .padding_ratio = 0,
        .steps = steps_};
  }

 private:
  void share_rows(SpmmSplit split, const DeviceTile<Value>& tile, StreamRef stream) {
    if (split == SpmmSplit::row_thread) {
      const dim3 grid(blocks_for(tile.rows), tile.width);
      spmm::row_thread<<<grid, kThreads, 0, stream>>>(tile);
    } else if (split == SpmmSplit::row_warp) {
      spmm::row_warp<<<blocks_for(tile.rows * kLanes), kThreads, 0, stream>>>(tile);
    } else {
      with_vectors(tile.width, [&](auto vectors) {
        spmm::row_reduce<decltype(vectors)::value>
            <<<blocks_for(tile.rows * kLanes), kThreads, 0, stream>>>(tile);
      });
    }
    check_launch();
  }

  void share_nonzeros(SpmmSplit split, const DeviceTile<Value>& tile, StreamRef stream) {
    if (!tile.add) {
      spmm::clear_empty_rows<<<blocks_for(tile.rows), kThreads, 0, stream>>>(tile);
      check_launch();
    }
    const std::int64_t block_size = spmm::block_size(split);
    const auto blocks = static_cast<unsigned>(spmm::block_count(tile.nnz, block_size));
    if (blocks == 0) return;
    switch (split) {
      case SpmmSplit::nnz_thread:
        launch_tile<1>(tile, dim3(blocks, tile.width), stream);
        break;
      case SpmmSplit::nnz_tile:
        with_vectors(tile.width, [&](auto vectors) {
          launch_tile<decltype(vectors)::value>(tile, dim3(blocks), stream);
        });
        break;
      case SpmmSplit::nnz_warp:
        with_vectors(tile.width, [&](auto vectors) {
          constexpr std::size_t kShared =
              spmm::HeadsOfWarps<decltype(vectors)::value, Value>::kBytes;
          spmm::nnz_warp<decltype(vectors)::value>
              <<<blocks, kThreads, kShared, stream>>>(tile, carries_.data());
        });
        break;
      default:
        spmm::nnz_cache<<<blocks, kThreads, spmm::HeadsOfWarps<kLanes, Value>::kBytes, stream>>>(
            tile, carries_.data());
    }
    check_launch();
    if (blocks == 1) return;
    const unsigned warps = blocks_for((std::int64_t{blocks} - 1) * kLanes);
    spmm::add_carries<<<warps, kThreads, 0, stream>>>(tile, block_size, carries_.data());
    check_launch();
  }

  template <int kVectors>
  void launch_tile(const DeviceTile<Value>& tile, dim3 grid, StreamRef stream) {
    constexpr std::size_t kShared = spmm::HeadsOfThreads<kVectors, Value>::kBytes;
    allow_shared(spmm::nnz_tile<kVectors, Value>, kShared);
    spmm::nnz_tile<kVectors><<<grid, kThreads, kShared, stream>>>(tile, carries_.data());
  }

  SpmmSplit split_;
  DeviceCsr<Value> a_;
  bool uneven_ = false;
  DeviceBuffer<Value> carries_;  // kTile per block
  std::vector<BuildStep> steps_;
};

}  // namespace

template <SpmmSplit split, class Value>
std::unique_ptr<CudaKernel<Value>> build_spmm_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream) {
  return std::make_unique<SpmmCuda<Value>>(split, matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_spmm_cuda<SpmmSplit::row_thread>(
    const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_spmm_cuda<SpmmSplit::row_thread>(
    const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_spmm_cuda<SpmmSplit::row_warp>(
    const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_spmm_cuda<SpmmSplit::row_warp>(
    const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_spmm_cuda<SpmmSplit::row_reduce>(
    const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_spmm_cuda<SpmmSplit::row_reduce>(
    const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_spmm_cuda<SpmmSplit::nnz_thread>(
    const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_spmm_cuda<SpmmSplit::nnz_thread>(
    const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_spmm_cuda<SpmmSplit::nnz_tile>(
    const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_spmm_cuda<SpmmSplit::nnz_tile>(
    const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_spmm_cuda<SpmmSplit::nnz_warp>(
    const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_spmm_cuda<SpmmSplit::nnz_warp>(
    const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_spmm_cuda<SpmmSplit::nnz_cache>(
    const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_spmm_cuda<SpmmSplit::nnz_cache>(
    const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_spmm_cuda<SpmmSplit::by_rule>(
    const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_spmm_cuda<SpmmSplit::by_rule>(
    const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
