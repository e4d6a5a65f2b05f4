// SPDX-License-Identifier: BSD-3-Clause
// Tests of LSRB-CSR on the host that the contract does not have: rows that are cut many times, and
// the bytes that it stores.
#include <gtest/gtest.h>

#include "kernels/peers/lsrb_csr/lsrb_csr.hpp"
#include "sparse/generators.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

TEST(LsrbCsrHost, MatchesReferenceWhereRowsSpanManyRowBlocks) {
  using Lengths = std::vector<std::int64_t>;
  for (const Lengths& lengths :
       {Lengths{50000}, Lengths{20000, 0, 20000}, Lengths{1, 2047, 4096, 2048, 2049, 0, 6000}}) {
    const CsrMatrix<double> a = matrix_with_row_lengths<double>(lengths, 50000);
    EXPECT_TRUE(matches_reference(*build_lsrb_csr_host<double>(a.view()), a.view()));
  }
}

TEST(LsrbCsrHost, MatchesReferenceOnGeneratedMatrices) {
  for (const GenerateSpec& spec : {GenerateSpec{"rmat", 15, 8}, GenerateSpec{"circuit", 40000},
                                   GenerateSpec{"elasticity3d-shuffled", 16}}) {
    const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
    EXPECT_TRUE(matches_reference(*build_lsrb_csr_host<double>(a.view()), a.view())) << spec.kind;
  }
}

TEST(LsrbCsrHost, AddsFewBytesToTheColumnsAndValuesOfTheCsr) {
  const CsrMatrix<double> a = contract_shape<double>("OnlyMediumRows");
  const KernelStatistics statistics = build_lsrb_csr_host<double>(a.view())->statistics();
  EXPECT_EQ(statistics.padding_ratio, 0);
  EXPECT_GE(statistics.stored_bytes, 12 * a.nnz());
  EXPECT_LE(statistics.stored_bytes, 12.4 * static_cast<double>(a.nnz()));
  EXPECT_EQ(statistics.steps.size(), 1u);
}

}  // namespace
}  // namespace trireme::test
