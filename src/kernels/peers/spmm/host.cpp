// SPDX-License-Identifier: BSD-3-Clause
// The host executor, which walks through the matrix in the split of each product (split.hpp). It is
// a specification to read, and a reference for the CUDA executor.
//
// The result is deterministic: the split, and not the number of threads, fixes the order of every
// sum.
#include <memory>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/stopwatch.hpp"
#include "kernels/peers/spmm/nonzero_balanced.hpp"
#include "kernels/peers/spmm/row_balanced.hpp"
#include "kernels/peers/spmm/rule.hpp"
#include "kernels/peers/spmm/spmm.hpp"

namespace trireme {
namespace {

template <class Value>
class SpmmHost final : public HostKernel<Value> {
 public:
  SpmmHost(SpmmSplit split, const CsrView<Value>& matrix) : split_(split), a_(matrix) {
    std::int64_t block = spmm::block_size(split);
    if (split == SpmmSplit::by_rule) {
      const Stopwatch watch;
      uneven_ = spmm::uneven_rows(matrix.row_ptr);
      steps_ = {{"classify rows", watch.seconds()}};
      if (uneven_) block = spmm::kPerBlockOfWarps;  // the smallest ones, which need most carries
    }
    if (block > 0) carries_.resize(spmm::kTile * spmm::block_count(matrix.nnz(), block));
  }

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    multi_multiply({x.data(), a_.cols, 1}, {y.data(), a_.rows, 1}, accumulate);
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override {
    const spmm::Product<Value> product{a_, x, y, accumulate == Accumulate::yes};
    switch (split_ == SpmmSplit::by_rule ? spmm::choose_split(x.width, uneven_) : split_) {
      case SpmmSplit::row_thread:
        return spmm::row_thread(product);
      case SpmmSplit::row_warp:
        return spmm::row_warp(product);
      case SpmmSplit::row_reduce:
        return spmm::row_reduce(product);
      case SpmmSplit::nnz_thread:
        return spmm::nnz_thread(product, carries_);
      case SpmmSplit::nnz_tile:
        return spmm::nnz_tile(product, carries_);
      case SpmmSplit::nnz_warp:
        return spmm::nnz_warp(product, carries_);
      case SpmmSplit::nnz_cache:
        return spmm::nnz_cache(product, carries_);
      case SpmmSplit::by_rule:
        break;
    }
  }

  void update_values(std::span<const Value> values) override { a_.values = values; }

  KernelStatistics statistics() const override {
    return {.stored_bytes =
                static_cast<std::int64_t>(a_.nnz() * (sizeof(Value) + sizeof(std::int32_t)) +
                                          (a_.rows + 1) * sizeof(std::int32_t)),
            .padding_ratio = 0,
            .steps = steps_};
  }

 private:
  SpmmSplit split_;
  CsrView<Value> a_;
  bool uneven_ = false;
  Array<HostSumOf<Value>> carries_;  // spmm::kTile per block
  std::vector<BuildStep> steps_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_spmm_host(SpmmSplit split, const CsrView<Value>& matrix) {
  return std::make_unique<SpmmHost<Value>>(split, matrix);
}

template std::unique_ptr<HostKernel<double>> build_spmm_host(SpmmSplit, const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_spmm_host(SpmmSplit, const CsrView<float>&);

}  // namespace trireme
