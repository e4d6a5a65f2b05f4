// SPDX-License-Identifier: BSD-3-Clause
// Tests that DASP built on the GPU has the arrays of the host builder, entry by entry.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/device.hpp"
#include "kernels/dasp/build.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "kernels/registry.hpp"
#include "support/device_product.hpp"
#include "support/several_vectors.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

template <class Stored, class Value>
struct Types {
  using StoredType = Stored;
  using ValueType = Value;
};

template <class T>
class DaspOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }

  using Host = dasp::Layout<typename T::StoredType>;
  using Device = dasp::DeviceLayout<typename T::StoredType>;
  void expect_same(const Host& host, const Device& device, const Stream& stream) {
    EXPECT_EQ(host.counts, device.counts);
    const auto same = [&](const auto& on_host, const auto& on_device, const char* what) {
      EXPECT_TRUE(test::same_bits(on_host, to_host(on_device.view(), stream))) << what;
    };
    same(host.row_order, device.row_order, "row_order");
    same(host.long_val, device.long_val, "long_val");
    same(host.long_cid, device.long_cid, "long_cid");
    same(host.reg_val, device.reg_val, "reg_val");
    same(host.reg_cid, device.reg_cid, "reg_cid");
    same(host.irreg_val, device.irreg_val, "irreg_val");
    same(host.irreg_cid, device.irreg_cid, "irreg_cid");
    same(host.short_val, device.short_val, "short_val");
    same(host.short_cid, device.short_cid, "short_cid");
    if (host.rows == 0) return;
    same(host.group_ptr, device.group_ptr, "group_ptr");
    same(host.rowblock_ptr, device.rowblock_ptr, "rowblock_ptr");
    same(host.irreg_ptr, device.irreg_ptr, "irreg_ptr");
  }
};

using Cases = testing::Types<Types<double, double>, Types<float, float>, Types<Half, Half>,
                             Types<float, double>>;
TYPED_TEST_SUITE(DaspOnDevice, Cases);

TYPED_TEST(DaspOnDevice, BuildsTheArraysOfTheHostBuilder) {
  using Stored = typename TypeParam::StoredType;
  using Value = typename TypeParam::ValueType;
  const Stream stream;
  for (const auto& [name, matrix] : test::contract_shapes<Value>()) {
    SCOPED_TRACE(name);
    std::vector<BuildStep> steps;
    const auto host = dasp::build<Stored, 8, 4, Value>(matrix.view(), steps);
    const auto given = to_device(matrix.view(), stream);
    const auto device = dasp::build_on_device<Stored>(given.view(), steps, stream);
    this->expect_same(host, device, stream);
  }
}

TYPED_TEST(DaspOnDevice, UpdatesToTheArraysOfARebuild) {
  using Stored = typename TypeParam::StoredType;
  using Value = typename TypeParam::ValueType;
  const Stream stream;
  for (auto& [name, matrix] : test::contract_shapes<Value>()) {
    SCOPED_TRACE(name);
    std::vector<BuildStep> steps;
    const auto given = to_device(matrix.view(), stream);
    const auto device = dasp::build_on_device<Stored>(given.view(), steps, stream);
    auto changed = matrix;
    changed.values = test::random_vector<Value>(matrix.nnz(), 99);
    const auto changed_on_device = to_device(changed.view(), stream);
    dasp::update_on_device(device, changed_on_device.view(), stream);
    this->expect_same(dasp::build<Stored, 8, 4, Value>(changed.view(), steps), device, stream);
  }
}

// A matrix with rows of every class. The columns of the first `near_rows` rows are close to each
// other; those of the other rows are anywhere in 300000 columns.
template <class Value>
CsrMatrix<Value> near_and_far(std::int64_t rows, std::int64_t near_rows) {
  constexpr std::int64_t cols = 300000;
  test::Random random(5);
  CsrMatrix<Value> a{.rows = rows, .cols = cols, .row_ptr = {0}, .col_idx = {}, .values = {}};
  constexpr std::int64_t lengths[] = {0, 1, 1, 2, 3, 4, 5, 7, 16, 27, 33, 81, 120, 700};
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = lengths[random.below(std::size(lengths))];
    const std::int64_t apart = row < near_rows ? 1 : 1 + random.below(40);
    const std::int64_t first = row < near_rows ? 200000 + row : random.below(cols - 40 * length);
    for (std::int64_t k = 0; k < length; ++k) {
      a.col_idx.push_back(static_cast<std::int32_t>(first + k * apart));
      a.values.push_back(random.value<Value>());
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

template <class Stored, class Value>
CudaBuilder<Value> dasp_builder() {
  const KernelEntry& entry = find_kernel("dasp");
  if constexpr (std::is_same_v<Stored, Value>)
    return entry.cuda<Value>();
  else
    return entry.cuda_mixed;
}

TYPED_TEST(DaspOnDevice, MultipliesWithColumnsNearAndFarApart) {
  using Stored = typename TypeParam::StoredType;
  using Value = typename TypeParam::ValueType;
  for (const std::int64_t near_rows : {0, 1500, 2500, 3000}) {
    SCOPED_TRACE(near_rows);
    test::DeviceProduct<Stored, Value> product(dasp_builder<Stored, Value>(),
                                               near_and_far<Stored>(3000, near_rows));
    EXPECT_TRUE(test::matches_reference(product));
  }
}

TYPED_TEST(DaspOnDevice, MultipliesSeveralVectorsWithColumnsNearAndFarApart) {
  using Stored = typename TypeParam::StoredType;
  using Value = typename TypeParam::ValueType;
  for (const std::int64_t near_rows : {0, 2500}) {
    SCOPED_TRACE(near_rows);
    test::DeviceProduct<Stored, Value> product(dasp_builder<Stored, Value>(),
                                               near_and_far<Stored>(3000, near_rows));
    if constexpr (std::is_same_v<Value, Half>)
      EXPECT_FALSE(product.kernel().multiplies_vectors());
    else
      for (const std::int64_t width : {3, 8, 16, 24, 32, 41})
        test::expect_same_as_single_products(product, width);
  }
}

// Nodes with several unknowns, whose rows have the same columns. Its row lengths give tasks of 8
// and of 32 rows, and every number of entries behind the last block.
template <class Value>
CsrMatrix<Value> nodes(std::int64_t count, std::int64_t unknowns) {
  test::Random random(5);
  const std::int64_t rows = count * unknowns;
  CsrMatrix<Value> a{.rows = rows, .cols = rows, .row_ptr = {0}, .col_idx = {}, .values = {}};
  for (std::int64_t node = 0; node < count; ++node) {
    constexpr std::int64_t lengths[] = {27, 9, 2, 3, 5, 4, 7};
    const std::int64_t length = lengths[node * std::size(lengths) / count] + node % 2;
    for (std::int64_t row = 0; row < unknowns; ++row) {
      for (std::int64_t k = 0; k < length * unknowns; ++k) {
        const std::int64_t other = (node + k / unknowns * 3) % count;
        a.col_idx.push_back(static_cast<std::int32_t>(other * unknowns + k % unknowns));
        a.values.push_back(random.value<Value>());
      }
      a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
    }
  }
  return a;
}

TYPED_TEST(DaspOnDevice, MultipliesSeveralVectorsByRowsThatShareColumns) {
  using Stored = typename TypeParam::StoredType;
  using Value = typename TypeParam::ValueType;
  if constexpr (!std::is_same_v<Value, Half>) {
    const Stream stream;
    std::vector<BuildStep> steps;
    for (const std::int64_t unknowns : {1, 2, 3, 4, 6}) {
      SCOPED_TRACE(unknowns);
      const auto a = nodes<Stored>(1500, unknowns);
      const auto given = to_device(a.view(), stream);
      EXPECT_EQ(dasp::build_on_device<Stored>(given.view(), steps, stream).same_columns.empty(),
                unknowns == 1);
      test::DeviceProduct<Stored, Value> product(dasp_builder<Stored, Value>(), a);
      for (const std::int64_t width : {5, 8, 16, 32})
        test::expect_same_as_single_products(product, width);
    }
  }
}

TYPED_TEST(DaspOnDevice, AnInfinityReachesOnlyTheRowsWithItsColumn) {
  using Stored = typename TypeParam::StoredType;
  using Value = typename TypeParam::ValueType;
  if constexpr (!std::is_same_v<Value, Half>) {
    constexpr std::int64_t width = 8, bad_vector = 5, bad_column = 400;
    const Stream stream;
    const auto a = nodes<Stored>(1500, 3);
    test::DeviceProduct<Stored, Value> product(dasp_builder<Stored, Value>(), a);
    auto x = test::random_vector<Value>(a.cols * width, 7);
    x[bad_column * width + bad_vector] = std::numeric_limits<Value>::infinity();
    const auto x_on_device = to_device(std::span<const Value>(x), stream);
    DeviceBuffer<Value> y_on_device(a.rows * width, stream);
    product.kernel().multi_multiply({x_on_device.data(), a.cols, width, width, 1},
                                    {y_on_device.data(), a.rows, width, width, 1}, Accumulate::no,
                                    stream);
    const auto y = to_host(y_on_device.view(), stream);
    std::int64_t reached = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
      bool has_column = false;
      for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
        has_column |= a.col_idx[k] == bad_column;
      reached += has_column;
      for (std::int64_t j = 0; j < width; ++j)
        ASSERT_EQ(std::isfinite(y[row * width + j]), !(has_column && j == bad_vector))
            << "row " << row << ", vector " << j;
    }
    EXPECT_GT(reached, 10);
  }
}

// Enough rows of 46 nonzeros for tasks of 32 rows in FP16 (plan.hpp).
CsrMatrix<Half> many_rows(bool near_columns) {
  constexpr std::int64_t length = 46, cols = 300000;
  test::Random random(6);
  CsrMatrix<Half> a;
  a.rows = dasp::kManyRows + 50;
  a.cols = cols;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t first = near_columns ? row : random.below(cols - 40 * length);
    for (std::int64_t k = 0; k < length; ++k) {
      a.col_idx.push_back(static_cast<std::int32_t>(first + k * (near_columns ? 1 : 40)));
      a.values.push_back(random.value<Half>());
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

TEST(DaspOnDeviceInFp16, Multiplies32LongRowsAtATime) {
  if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  for (const bool near_columns : {true, false}) {
    SCOPED_TRACE(near_columns);
    test::DeviceProduct<Half, Half> product(find_kernel("dasp").cuda<Half>(),
                                            many_rows(near_columns));
    EXPECT_TRUE(test::matches_reference(product));
  }
}

TYPED_TEST(DaspOnDevice, OffsetsGiveTheColumnsOfNearTasks) {
  using Stored = typename TypeParam::StoredType;
  using Value = typename TypeParam::ValueType;
  const Stream stream;
  std::vector<BuildStep> steps;
  const auto given = to_device(near_and_far<Value>(3000, 2500).view(), stream);
  const auto device = dasp::build_on_device<Stored>(given.view(), steps, stream);
  const auto tasks = to_host(device.tasks.view(), stream);
  const auto base = to_host(device.column_base.view(), stream);
  const auto cid = to_host(device.reg_cid.view(), stream);
  std::int64_t checked = 0;
  ASSERT_EQ(base.size(), tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const dasp::Work work = tasks[t].work();
    if (base[t] < 0 || (work != dasp::Work::rows32 && work != dasp::Work::rows8)) continue;
    const std::int64_t first = std::int64_t{tasks[t].stored} * 32;
    const std::int64_t count = dasp::items_per_task(work) * (tasks[t].size() / 4 * 4);
    // Only near tasks have offsets.
    const auto offset = to_host(device.reg_offset.view().subspan(first, count), stream);
    for (std::int64_t i = 0; i < count; ++i, ++checked)
      ASSERT_EQ(cid[first + i], base[t] + offset[i]);
  }
  EXPECT_GT(checked, 1000);
  const auto far = to_device(near_and_far<Value>(3000, 0).view(), stream);
  EXPECT_TRUE(dasp::build_on_device<Stored>(far.view(), steps, stream).column_base.empty());
}

// 40 long rows of consecutive columns. The last entry of row 7 is in column 0, which is also the
// column of padding.
template <class Value>
CsrMatrix<Value> long_rows_of_consecutive_columns() {
  test::Random random(9);
  CsrMatrix<Value> a{.rows = 40, .cols = 1000, .row_ptr = {0}, .col_idx = {}, .values = {}};
  for (std::int32_t row = 0; row < 40; ++row) {
    for (std::int32_t k = 0; k < 570 + row; ++k) {
      a.col_idx.push_back(row == 7 && k == 576 ? 0 : 1 + row + k);
      a.values.push_back(random.value<Value>());
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

TYPED_TEST(DaspOnDevice, TasksOfConsecutiveColumnsHaveTheirFirstColumnOnly) {
  using Stored = typename TypeParam::StoredType;
  using Value = typename TypeParam::ValueType;
  const Stream stream;
  std::vector<BuildStep> steps;
  const auto given = to_device(long_rows_of_consecutive_columns<Value>().view(), stream);
  const auto device = dasp::build_on_device<Stored>(given.view(), steps, stream);
  const auto tasks = to_host(device.tasks.view(), stream);
  const auto base = to_host(device.column_base.view(), stream);
  const auto order = to_host(device.row_order.view(), stream);
  const auto groups = to_host(device.group_ptr.view(), stream);
  ASSERT_EQ(base.size(), 80);  // each row has a task of 512 entries and a task of the others
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    ASSERT_EQ(tasks[t].work(), dasp::Work::long_groups);
    const std::int32_t row = order[tasks[t].irregular];
    const std::int32_t before = 64 * (tasks[t].stored - groups[tasks[t].irregular]);
    EXPECT_EQ(base[t], row == 7 && before > 0 ? -1 : 1 + row + before);
  }
  test::DeviceProduct<Stored, Value> product(dasp_builder<Stored, Value>(),
                                             long_rows_of_consecutive_columns<Stored>());
  EXPECT_TRUE(test::matches_reference(product));
}

}  // namespace
}  // namespace trireme
