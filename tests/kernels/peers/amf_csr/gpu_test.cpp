// SPDX-License-Identifier: BSD-3-Clause
// Tests that AMF-CSR built on the GPU has the arrays of the host builder, and that it multiplies
// larger matrices than the shapes of the contract.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/peers/amf_csr/amf_csr.hpp"
#include "kernels/peers/amf_csr/build.hpp"
#include "kernels/peers/amf_csr/device_layout.hpp"
#include "sparse/generators.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

class AmfCsrDevice : public testing::Test {
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
  const auto device = amf_csr::build_on_device<Value>(on_device.view(), stream);
  const auto thresholds = amf_csr::choose_thresholds(a.rows, a.nnz());
  const auto host = amf_csr::build(a.view(), thresholds).layout;
  ASSERT_EQ(device.row_bits, host.row_bits);
  EXPECT_EQ(to_host(device.row_ptr.view(), stream), host.row_ptr);
  EXPECT_EQ(to_host(device.first_row.view(), stream), host.first_row);
  EXPECT_EQ(to_host(device.col_index.view(), stream), host.col_index);
  EXPECT_EQ(to_host(device.val.view(), stream), host.val);
}

std::vector<GenerateSpec> large_problems() {
  return {{"rmat", 17, 8},    {"circuit", 200'000}, {"web", 150'000},
          {"short", 300'000}, {"poisson3d", 40},    {"elasticity3d-shuffled", 18}};
}

TEST_F(AmfCsrDevice, BuildsTheHostsArraysOnEveryShape) {
  for (const auto& shape : contract_shapes<double>()) {
    SCOPED_TRACE(shape.name);
    expect_same_arrays(shape.matrix);
  }
  for (const auto& shape : contract_shapes<float>()) {
    SCOPED_TRACE(shape.name);
    expect_same_arrays(shape.matrix);
  }
}

TEST_F(AmfCsrDevice, BuildsTheHostsArraysOnLargeMatrices) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    expect_same_arrays(generate(spec, 0, generator_shape(spec).rows).local);
  }
}

TEST_F(AmfCsrDevice, MatchesReferenceOnLargeMatrices) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    DeviceProduct<double, double> product(build_amf_csr_cuda<double>,
                                          generate(spec, 0, generator_shape(spec).rows).local);
    EXPECT_TRUE(matches_reference(product));
  }
}

TEST_F(AmfCsrDevice, GivesTheSameBitsForLongRowsInAHundredRuns) {
  const GenerateSpec spec{"circuit", 200'000};
  DeviceProduct<double, double> product(build_amf_csr_cuda<double>,
                                        generate(spec, 0, spec.n).local);
  const auto x = random_vector<double>(spec.n);
  const auto first = product.multiply(x);
  for (int run = 1; run < 100; ++run) ASSERT_TRUE(same_bits(first, product.multiply(x))) << run;
}

}  // namespace
}  // namespace trireme::test
