// SPDX-License-Identifier: BSD-3-Clause
// The fingerprint does not depend on the distribution of rows, and differs for another system.
#include "io/fingerprint.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sparse/generators.hpp"

namespace trireme {
namespace {

RowSlab slab(std::int64_t first, std::int64_t last) {
  GenerateSpec spec;
  spec.kind = "poisson2d";
  spec.n = 8;
  return generate(spec, first, last);
}

TEST(Fingerprint, IsTheSumOverAnyDistributionOfTheRows) {
  const std::uint64_t whole = fingerprint(slab(0, 64));
  EXPECT_EQ(fingerprint(slab(0, 13)) + fingerprint(slab(13, 40)) + fingerprint(slab(40, 64)),
            whole);
  const Array<double> b{1, -2, 3, 0};
  const std::span<const double> all(b);
  EXPECT_EQ(fingerprint(all.first(1), 0) + fingerprint(all.subspan(1), 1), fingerprint(b, 0));
}

TEST(Fingerprint, OfAMatrixChangesWithAValueAColumnAndTheOrderOfRows) {
  const std::uint64_t before = fingerprint(slab(0, 64));
  RowSlab changed = slab(0, 64);
  changed.local.values[17] = std::nextafter(changed.local.values[17], 9);
  EXPECT_NE(fingerprint(changed), before);
  changed = slab(0, 64);
  changed.local.col_idx.back() -= 1;
  EXPECT_NE(fingerprint(changed), before);
  changed = slab(0, 64);
  changed.first_row = 1;
  EXPECT_NE(fingerprint(changed), before);
  changed = slab(0, 64);
  ++changed.local.row_ptr[5];
  EXPECT_NE(fingerprint(changed), before);
}

TEST(Fingerprint, OfVectorsChangesWithAValueARowAndTheOrderOfColumns) {
  const Array<double> b{1, 2}, c{2, 1};
  EXPECT_NE(fingerprint(b, 0), fingerprint(c, 0));
  EXPECT_NE(fingerprint(b, 0), fingerprint(b, 1));
  EXPECT_NE(fingerprint(b, 0, 0) + fingerprint(c, 0, 1),
            fingerprint(c, 0, 0) + fingerprint(b, 0, 1));
}

}  // namespace
}  // namespace trireme
