// SPDX-License-Identifier: BSD-3-Clause
// The host executor: the OpenMP threads share the sub-blocks, as the thread blocks of a GPU do.
//
// Bytes moved (double): 12 per nonzero, 8 per row, 8 per row block and 4 per sub-block. The result
// is deterministic: one thread sums each row in storage order.
#include <array>

#include "kernels/host_sum.hpp"
#include "kernels/peers/amf_csr/amf_csr.hpp"
#include "kernels/peers/amf_csr/build.hpp"

namespace trireme {
namespace {

template <class Value>
class AmfCsrHost final : public HostKernel<Value> {
 public:
  explicit AmfCsrHost(const CsrView<Value>& matrix)
      : row_ptr_(matrix.row_ptr),
        built_(amf_csr::build(matrix, amf_csr::choose_thresholds(matrix.rows, matrix.nnz()))) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const amf_csr::Layout<Value>& a = built_.layout;
    const auto sub_block_ptr = a.sub_block_ptr();
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t sub_block = 0; sub_block < a.sub_blocks; ++sub_block)
      for (std::int32_t row_block = sub_block_ptr[sub_block];
           row_block < sub_block_ptr[sub_block + 1]; ++row_block)
        multiply_row_block(row_block, x, y, accumulate == Accumulate::yes);
  }

  void update_values(std::span<const Value> values) override {
    amf_csr::reorder_values(row_ptr_, values, built_.layout);
  }

  KernelStatistics statistics() const override {
    const amf_csr::Layout<Value>& a = built_.layout;
    const auto pointers = static_cast<std::int64_t>(a.row_ptr.size() + a.first_row.size());
    return {.stored_bytes = a.nnz * static_cast<std::int64_t>(sizeof(Value) + 4) + 4 * pointers,
            .padding_ratio = 0,
            .steps = built_.steps};
  }

 private:
  void multiply_row_block(std::int32_t row_block, std::span<const Value> x, std::span<Value> y,
                          bool add) const {
    const amf_csr::Layout<Value>& a = built_.layout;
    const auto row_block_ptr = a.row_block_ptr();
    std::array<HostSumOf<Value>, 1 << amf_csr::kMaxRowBits> sums{};
    for (std::int32_t k = row_block_ptr[row_block]; k < row_block_ptr[row_block + 1]; ++k)
      sums[a.row_of(a.col_index[k])] += term_of_sum(a.val[k], x[a.column_of(a.col_index[k])]);
    const std::int32_t first_row = a.first_row[row_block];
    for (std::int32_t row = first_row; row < a.first_row[row_block + 1]; ++row)
      store_or_add(y[row], sums[row - first_row], add);
  }

  std::span<const std::int32_t> row_ptr_;
  amf_csr::BuiltLayout<Value> built_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_amf_csr_host(const CsrView<Value>& matrix) {
  return std::make_unique<AmfCsrHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_amf_csr_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_amf_csr_host(const CsrView<float>&);

}  // namespace trireme
