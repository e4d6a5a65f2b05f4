// SPDX-License-Identifier: BSD-3-Clause
// The DASP builder on the GPU: the arrays of the host builder, entry for entry.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/dasp/build.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "support/device_product.hpp"
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

}  // namespace
}  // namespace trireme
