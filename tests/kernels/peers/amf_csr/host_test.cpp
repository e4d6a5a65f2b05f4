// SPDX-License-Identifier: BSD-3-Clause
// Tests of AMF-CSR on the host that the contract does not have: larger matrices, and the bytes that
// it stores.
#include <gtest/gtest.h>

#include "kernels/peers/amf_csr/amf_csr.hpp"
#include "sparse/generators.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

TEST(AmfCsrHost, MatchesReferenceOnManySubBlocks) {
  for (const GenerateSpec& spec : {GenerateSpec{"rmat", 15, 8}, GenerateSpec{"circuit", 40000},
                                   GenerateSpec{"elasticity3d-shuffled", 16}}) {
    const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
    EXPECT_TRUE(matches_reference(*build_amf_csr_host<double>(a.view()), a.view())) << spec.kind;
  }
}

TEST(AmfCsrHost, StoresFewerBytesThanCsrWhereRowsAreShort) {
  const CsrMatrix<double> a = contract_shape<double>("OnlyShortRows");
  const KernelStatistics statistics = build_amf_csr_host<double>(a.view())->statistics();
  EXPECT_EQ(statistics.padding_ratio, 0);
  EXPECT_GE(statistics.stored_bytes, 12 * a.nnz());
  EXPECT_LT(statistics.stored_bytes, 12 * a.nnz() + a.rows);
  EXPECT_EQ(statistics.steps.size(), 2u);
}

}  // namespace
}  // namespace trireme::test
