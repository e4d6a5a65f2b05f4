// SPDX-License-Identifier: BSD-3-Clause
// Tests that TEB built on the GPU has the arrays of the host builder, and that it multiplies larger
// matrices than the shapes of the contract.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/teb/build.hpp"
#include "kernels/teb/device_layout.hpp"
#include "kernels/teb/teb.hpp"
#include "sparse/generators.hpp"
#include "support/device_product.hpp"
#include "support/several_vectors.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

class TebDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
};

template <class Value>
void expect_same_arrays(const CsrMatrix<Value>& a) {
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto device = teb::build_on_device<Value>(on_device.view(), stream);
  const auto host = teb::build(a.view()).layout;
  ASSERT_EQ(device.order.plan.threshold.nonzeros, host.threshold);
  ASSERT_EQ(device.order.plan.long_rows, host.long_rows);
  ASSERT_EQ(device.order.blocks, host.blocks());
  EXPECT_EQ(to_host(device.order.row_order.view(), stream), host.row_order);
  EXPECT_EQ(to_host(device.order.blo_idx.view(), stream), host.blo_idx);
  EXPECT_EQ(to_host(device.order.rownnz_sum.view(), stream), host.rownnz_sum);
  EXPECT_EQ(to_host(device.col_idx.view(), stream), host.col_idx);
  EXPECT_EQ(to_host(device.values.view(), stream), host.values);
}

std::vector<GenerateSpec> large_problems() {
  return {{"rmat", 17, 8},    {"circuit", 200'000}, {"web", 150'000},
          {"short", 300'000}, {"poisson3d", 40},    {"elasticity3d-shuffled", 18}};
}

TEST_F(TebDevice, BuildsTheHostsArraysOnEveryShape) {
  for (const auto& shape : contract_shapes<double>()) {
    SCOPED_TRACE(shape.name);
    expect_same_arrays(shape.matrix);
  }
  for (const auto& shape : contract_shapes<float>()) {
    SCOPED_TRACE(shape.name);
    expect_same_arrays(shape.matrix);
  }
}

TEST_F(TebDevice, BuildsTheHostsArraysOnManyPanels) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    expect_same_arrays(generate(spec, 0, generator_shape(spec).rows).local);
  }
}

TEST_F(TebDevice, MatchesReferenceOnManyPanels) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    DeviceProduct<double, double> product(build_teb_cuda<double>,
                                          generate(spec, 0, generator_shape(spec).rows).local);
    EXPECT_TRUE(matches_reference(product));
  }
}

TEST_F(TebDevice, MultipliesSeveralVectorsOfEveryKindOfStrip) {
  for (const char* name : {"AllMixed", "DenseFirstAndLastRow"}) {
    SCOPED_TRACE(name);
    DeviceProduct<double, double> all(build_teb_cuda<double>, contract_shape<double>(name));
    DeviceProduct<float, double> mixed(build_teb_mixed_cuda, contract_shape<float>(name));
    DeviceProduct<float, float> single(build_teb_cuda<float>, contract_shape<float>(name));
    for (const std::int64_t width : {3, 8, 16, 24, 32, 41}) {
      expect_same_as_single_products(all, width);
      expect_same_as_single_products(mixed, width);
      expect_same_as_single_products(single, width);
    }
  }
}

// The chunks of a long row finish in a different order each time.
TEST_F(TebDevice, GivesTheSameBitsForLongRowsInAHundredRuns) {
  const GenerateSpec spec{"circuit", 200'000};
  DeviceProduct<double, double> product(build_teb_cuda<double>, generate(spec, 0, spec.n).local);
  const auto x = random_vector<double>(spec.n);
  const auto first = product.multiply(x);
  for (int run = 1; run < 100; ++run) ASSERT_TRUE(same_bits(first, product.multiply(x))) << run;
}

}  // namespace
}  // namespace trireme::test
