// SPDX-License-Identifier: BSD-3-Clause
// Tests that PBC built on the GPU has the arrays of the host builder, and that it multiplies
// larger matrices than the shapes of the contract.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/peers/pbc/build.hpp"
#include "kernels/peers/pbc/device_layout.hpp"
#include "kernels/peers/pbc/pbc.hpp"
#include "sparse/generators.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

class PbcDevice : public testing::Test {
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
  const auto device = pbc::build_on_device<Value>(on_device.view(), stream);
  const auto host = pbc::build(a.view(), pbc::make_plan(a.rows, a.nnz())).layout;
  ASSERT_EQ(device.long_rows, host.long_rows);
  EXPECT_EQ(to_host(device.dev_p.view(), stream), host.dev_p);
  EXPECT_EQ(to_host(device.dev_w.view(), stream), host.dev_w);
  EXPECT_EQ(to_host(device.empty_rows.view(), stream), host.empty_rows);
  EXPECT_EQ(to_host(device.dev_blockpos.view(), stream), host.dev_blockpos);
  EXPECT_EQ(to_host(device.dev_offset.view(), stream), host.dev_offset);
  EXPECT_EQ(to_host(device.val_data.view(), stream), host.val_data);
}

std::vector<GenerateSpec> large_problems() {
  return {{"rmat", 17, 8},    {"circuit", 200'000}, {"web", 150'000},
          {"short", 300'000}, {"poisson3d", 40},    {"elasticity3d-shuffled", 18}};
}

TEST_F(PbcDevice, BuildsTheHostsArraysOnEveryShape) {
  for (const auto& shape : contract_shapes<double>()) {
    SCOPED_TRACE(shape.name);
    expect_same_arrays(shape.matrix);
  }
  for (const auto& shape : contract_shapes<float>()) {
    SCOPED_TRACE(shape.name);
    expect_same_arrays(shape.matrix);
  }
}

TEST_F(PbcDevice, BuildsTheHostsArraysOnLargeMatrices) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    expect_same_arrays(generate(spec, 0, generator_shape(spec).rows).local);
  }
}

TEST_F(PbcDevice, MatchesReferenceOnLargeMatrices) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    DeviceProduct<double, double> product(build_pbc_cuda<double>,
                                          generate(spec, 0, generator_shape(spec).rows).local);
    EXPECT_TRUE(matches_reference(product));
  }
}

TEST_F(PbcDevice, GivesTheSameBitsForLongRowsInAHundredRuns) {
  const GenerateSpec spec{"circuit", 200'000};
  DeviceProduct<double, double> product(build_pbc_cuda<double>, generate(spec, 0, spec.n).local);
  const auto x = random_vector<double>(spec.n);
  const auto first = product.multiply(x);
  for (int run = 1; run < 100; ++run) ASSERT_TRUE(same_bits(first, product.multiply(x))) << run;
}

}  // namespace
}  // namespace trireme::test
