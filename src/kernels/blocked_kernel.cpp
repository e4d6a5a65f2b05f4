// SPDX-License-Identifier: BSD-3-Clause
// Shares the rows between threads, and passes the parts of y and of the values on to the kernels.
#include "kernels/blocked_kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>

#include "kernels/host_sum.hpp"
#include "kernels/row_product.hpp"
#include "sparse/partition.hpp"

namespace trireme {
namespace {

// Calls work(part) for all parts: those of a thread by that thread, one after the other.
template <class Parts, class Work>
void for_each_part(Parts& parts, const std::vector<std::size_t>& first_of_thread,
                   const Work& work) {
  const std::int64_t threads = std::ssize(first_of_thread) - 1;
  if (threads == 0) {
    for (auto& part : parts) work(part);
    return;
  }
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    omp_set_num_threads(1);  // of this task: what a kernel does in parallel stays in this thread
    for (std::size_t k = first_of_thread[thread]; k < first_of_thread[thread + 1]; ++k)
      work(parts[k]);
  }
}

// The rows of y that the part computes.
template <class Part, class Value>
MultiVector<Value> rows_of(const Part& part, MultiVector<Value> y) {
  return {y.row(part.first_row), part.rows, y.width, y.row_stride, y.vector_stride};
}

// The first rows of the threads, or nothing where a thread would have much more than its share.
template <class Value>
std::vector<std::int64_t> shares_of_threads(const CsrMatrix<Value>& a) {
  constexpr double kUneven = 1.05;
  const int threads = omp_get_max_threads();
  const auto work_before = [&](std::int64_t row) { return a.row_begin(row); };
  std::vector<std::int64_t> starts = split_by_nonzeros(a.rows, work_before, threads);
  const auto share = static_cast<double>(a.nnz() + a.rows) / threads;
  for (int t = 0; t < threads; ++t) {
    const std::int64_t work =
        work_before(starts[t + 1]) - work_before(starts[t]) + starts[t + 1] - starts[t];
    if (static_cast<double>(work) > kUneven * share) return {};
  }
  return starts;
}

// The rows [first, last) of the matrix, which lie in `block`.
template <class Value>
RowBlock<Value> rows_of_block(const RowBlock<Value>& block, std::int64_t first, std::int64_t last,
                              Array<std::int32_t>& row_ptr) {
  const CsrView<Value>& a = block.csr;
  const auto offsets = a.row_ptr.subspan(first - block.first_row, last - first + 1);
  const std::int32_t before = offsets.front();
  const std::int64_t count = offsets.back() - before;
  if (before > 0) {
    row_ptr.resize(offsets.size());
    std::ranges::transform(offsets, row_ptr.begin(), [&](auto offset) { return offset - before; });
  }
  return {first,
          block.first_entry + before,
          {.rows = last - first,
           .cols = a.cols,
           .row_ptr = before > 0 ? std::span<const std::int32_t>(row_ptr) : offsets,
           .col_idx = a.col_idx.subspan(before, count),
           .values = a.values.subspan(before, count)}};
}

// Also has the dot products of a RowProduct, which all of its kernels are.
template <class Value>
class BlockedRowKernel final : public BlockedKernel<Value>, public RowProduct<Value> {
 public:
  using BlockedKernel<Value>::BlockedKernel;

  std::int64_t nonzeros_before(std::int64_t row) const override {
    const auto& part = part_of(row);
    return part.first_entry + by_rows(part).nonzeros_before(row - part.first_row);
  }

  // Row i of a kernel is another row of X, so that the dot products are summed here, while the rows
  // are in a cache.
  void multiply_and_dot(MultiVector<const Value> x, MultiVector<Value> y, std::int64_t first,
                        std::int64_t last, Value* dots) const override {
    for (std::int64_t row = first; row < last;) {
      const auto& part = part_of(row);
      const std::int64_t end = std::min(last, part.first_row + part.rows);
      by_rows(part).multiply_and_dot(x, rows_of(part, y), row - part.first_row,
                                     end - part.first_row, nullptr);
      row = end;
    }
    if (!dots) return;
    for (std::int64_t row = first; row < last; ++row)
      for (std::int64_t j = 0; j < x.width; ++j)
        store_or_add(dots[j], term_of_sum<Value, Value>(x(row, j), y(row, j)), true);
  }

 private:
  using Part = typename BlockedKernel<Value>::Part;
  // The last part for row == rows.
  const Part& part_of(std::int64_t row) const {
    const auto next = std::ranges::upper_bound(this->parts(), row, {},
                                               [](const Part& part) { return part.first_row; });
    return *std::prev(next);
  }
  static const RowProduct<Value>& by_rows(const Part& part) {
    return dynamic_cast<const RowProduct<Value>&>(*part.kernel);
  }
};

}  // namespace

template <class Value>
void BlockedKernel<Value>::multiply(std::span<const Value> x, std::span<Value> y,
                                    Accumulate accumulate) {
  for_each_part(parts_, first_of_thread_, [&](Part& part) {
    part.kernel->multiply(x, y.subspan(part.first_row, part.rows), accumulate);
  });
}

template <class Value>
void BlockedKernel<Value>::update_values(std::span<const Value> values) {
  for_each_part(parts_, first_of_thread_, [&](Part& part) {
    part.kernel->update_values(values.subspan(part.first_entry, part.nnz));
  });
}

// Steps of the same name are one step. Parts of several threads are built at the same time.
template <class Value>
KernelStatistics BlockedKernel<Value>::statistics() const {
  const auto at_once =
      static_cast<double>(std::max<std::ptrdiff_t>(1, std::ssize(first_of_thread_) - 1));
  KernelStatistics all;
  double stored = 0, nnz = 0;
  for (const Part& part : parts_) {
    const KernelStatistics one = part.kernel->statistics();
    all.stored_bytes += one.stored_bytes;
    stored += one.padding_ratio * static_cast<double>(part.nnz);
    nnz += static_cast<double>(part.nnz);
    for (const BuildStep& step : one.steps) {
      auto known = std::ranges::find(all.steps, step.name, &BuildStep::name);
      if (known == all.steps.end()) known = all.steps.insert(known, {step.name, 0});
      known->seconds += step.seconds / at_once;
    }
  }
  if (nnz > 0) all.padding_ratio = stored / nnz;
  return all;
}

template <class Value>
bool BlockedKernel<Value>::multiplies_vectors() const {
  return std::ranges::all_of(parts_,
                             [](const Part& part) { return part.kernel->multiplies_vectors(); });
}

template <class Value>
void BlockedKernel<Value>::multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                                          Accumulate accumulate) {
  for_each_part(parts_, first_of_thread_,
                [&](Part& part) { part.kernel->multi_multiply(x, rows_of(part, y), accumulate); });
}

template <class Value>
std::unique_ptr<HostKernel<Value>> build_by_blocks(const CsrMatrix<Value>& matrix,
                                                   const KernelBuilder<Value>& build) {
  if (matrix.cuts.empty()) return build(matrix.view());
  using Part = typename BlockedKernel<Value>::Part;
  const std::vector<std::int64_t> starts = shares_of_threads(matrix);
  const std::size_t shares = starts.empty() ? 1 : starts.size() - 1;
  std::vector<Part> parts;
  std::vector<RowBlock<Value>> rows;
  std::vector<std::size_t> first_of_thread{0};
  for (std::size_t t = 0; t < shares; ++t) {
    for (const RowBlock<Value>& block : matrix.blocks()) {
      const std::int64_t end_of_block = block.first_row + block.csr.rows;
      const std::int64_t first = std::max(block.first_row, starts.empty() ? 0 : starts[t]);
      const std::int64_t last =
          std::min(end_of_block, starts.empty() ? matrix.rows : starts[t + 1]);
      if (first >= last) continue;
      Part& part = parts.emplace_back();
      rows.push_back(rows_of_block(block, first, last, part.row_ptr));
      part.first_row = first;
      part.rows = last - first;
      part.first_entry = rows.back().first_entry;
      part.nnz = rows.back().csr.nnz();
    }
    if (!starts.empty()) first_of_thread.push_back(parts.size());
  }
  std::vector<std::exception_ptr> errors(parts.size());
  for_each_part(parts, first_of_thread, [&](Part& part) {
    const std::ptrdiff_t k = &part - parts.data();
    try {
      part.kernel = build(rows[k].csr);
    } catch (...) {
      errors[k] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  if (std::ranges::all_of(parts, [](const Part& part) {
        return dynamic_cast<const RowProduct<Value>*>(part.kernel.get()) != nullptr;
      }))
    return std::make_unique<BlockedRowKernel<Value>>(std::move(parts), std::move(first_of_thread));
  return std::make_unique<BlockedKernel<Value>>(std::move(parts), std::move(first_of_thread));
}

template class BlockedKernel<double>;
template class BlockedKernel<float>;
template class BlockedKernel<std::int32_t>;
template std::unique_ptr<HostKernel<double>> build_by_blocks(const CsrMatrix<double>&,
                                                             const KernelBuilder<double>&);
template std::unique_ptr<HostKernel<float>> build_by_blocks(const CsrMatrix<float>&,
                                                            const KernelBuilder<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_by_blocks(
    const CsrMatrix<std::int32_t>&, const KernelBuilder<std::int32_t>&);

}  // namespace trireme
