// SPDX-License-Identifier: BSD-3-Clause
// Tests of the peers that have a builder of their own on the GPU: it makes the arrays of the host
// builder, and what it makes multiplies larger matrices than the shapes of the contract.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/peers/amf_csr/same_arrays.hpp"
#include "kernels/peers/csr5/same_arrays.hpp"
#include "kernels/peers/lsrb_csr/same_arrays.hpp"
#include "kernels/peers/pbc/same_arrays.hpp"
#include "kernels/peers/tilespmv/same_arrays.hpp"
#include "sparse/generators.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

template <class Format>
class PeerOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
};
using Formats = testing::Types<AmfCsr, Csr5, LsrbCsr, Pbc, TileSpmv>;
TYPED_TEST_SUITE(PeerOnDevice, Formats);

std::vector<GenerateSpec> large_problems() {
  return {{"rmat", 17, 8},    {"circuit", 200'000}, {"web", 150'000},
          {"short", 300'000}, {"poisson3d", 40},    {"elasticity3d-shuffled", 18}};
}

CsrMatrix<double> matrix_of(const GenerateSpec& spec) {
  return generate(spec, 0, generator_shape(spec).rows).local;
}

TYPED_TEST(PeerOnDevice, BuildsTheHostsArraysOnEveryShape) {
  for (const auto& shape : contract_shapes<double>()) {
    SCOPED_TRACE(shape.name);
    TypeParam::expect_same_arrays(shape.matrix);
  }
  for (const auto& shape : contract_shapes<float>()) {
    SCOPED_TRACE(shape.name);
    TypeParam::expect_same_arrays(shape.matrix);
  }
}

TYPED_TEST(PeerOnDevice, BuildsTheHostsArraysOnLargeMatrices) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    TypeParam::expect_same_arrays(matrix_of(spec));
  }
}

TYPED_TEST(PeerOnDevice, MatchesReferenceOnLargeMatrices) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    DeviceProduct<double, double> product(TypeParam::template build_cuda<double>, matrix_of(spec));
    EXPECT_TRUE(matches_reference(product));
  }
}

TYPED_TEST(PeerOnDevice, GivesTheSameBitsForLongRowsInAHundredRuns) {
  const CsrMatrix<double> a = matrix_of({"circuit", 200'000});
  const auto x = random_vector<double>(a.cols);
  DeviceProduct<double, double> product(TypeParam::template build_cuda<double>, a);
  const auto first = product.multiply(x);
  for (int run = 1; run < 100; ++run) ASSERT_TRUE(same_bits(first, product.multiply(x))) << run;
}

}  // namespace
}  // namespace trireme::test
