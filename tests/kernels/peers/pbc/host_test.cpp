// SPDX-License-Identifier: BSD-3-Clause
// Tests of PBC on the host that the contract does not have: many panels, and the bytes that it
// stores.
#include <gtest/gtest.h>

#include "kernels/peers/pbc/pbc.hpp"
#include "sparse/generators.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

TEST(PbcHost, MatchesReferenceOnManyPanels) {
  for (const GenerateSpec& spec : {GenerateSpec{"rmat", 15, 8}, GenerateSpec{"circuit", 40000},
                                   GenerateSpec{"elasticity3d-shuffled", 16}}) {
    const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
    EXPECT_TRUE(matches_reference(*build_pbc_host<double>(a.view()), a.view())) << spec.kind;
  }
}

TEST(PbcHost, StoresARowPerNonzeroAndNoPadding) {
  const CsrMatrix<double> a = contract_shape<double>("AllMixed");
  const KernelStatistics statistics = build_pbc_host<double>(a.view())->statistics();
  EXPECT_EQ(statistics.padding_ratio, 0);
  EXPECT_GE(statistics.stored_bytes, 16 * a.nnz());
  EXPECT_LE(statistics.stored_bytes, 16 * a.nnz() + 4 * a.rows);
  EXPECT_EQ(statistics.steps.size(), 2u);
}

}  // namespace
}  // namespace trireme::test
