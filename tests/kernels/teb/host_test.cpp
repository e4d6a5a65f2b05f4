// SPDX-License-Identifier: BSD-3-Clause
// Tests of TEB on the host that the contract does not have: many panels, and the bytes that it
// stores.
#include <gtest/gtest.h>

#include "kernels/teb/teb.hpp"
#include "sparse/generators.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

TEST(TebHost, MatchesReferenceOnManyPanels) {
  for (const GenerateSpec& spec : {GenerateSpec{"rmat", 16, 8}, GenerateSpec{"circuit", 40000},
                                   GenerateSpec{"elasticity3d-shuffled", 20}}) {
    const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
    EXPECT_TRUE(matches_reference(*build_teb_host<double>(a.view()), a.view())) << spec.kind;
  }
}

TEST(TebHost, StoresNoPadding) {
  const CsrMatrix<double> a = contract_shape<double>("AllMixed");
  const KernelStatistics statistics = build_teb_host<double>(a.view())->statistics();
  EXPECT_EQ(statistics.padding_ratio, 0);
  EXPECT_GE(statistics.stored_bytes, 12 * a.nnz() + 8 * a.rows);
  EXPECT_EQ(statistics.steps.size(), 3u);
}

}  // namespace
}  // namespace trireme::test
